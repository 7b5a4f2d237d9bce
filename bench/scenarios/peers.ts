import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT, withConnector } from '../connector.ts'
import {
  type Cost,
  further,
  inTurn,
  type Measured,
  type MeasureOptions,
  measure,
  rateLine,
  startServer,
} from '../measure.ts'

/** Other ways to write a source, as far as they can be had here; see `peers/`. */
interface Peers {
  /** Where faros-airbyte-cdk is installed. */
  readonly faros: string | undefined
  /** A Python that has airbyte-cdk. */
  readonly python: string | undefined
}

const FOLDER = join(PROJECT, 'node_modules/.cache/bench-peers')
/** With packages that it needs but does not declare. */
const FAROS = ['faros-airbyte-cdk@0.23.19', 'commander@9', 'lodash@4', 'faros-js-client@0.7']
const AIRBYTE_CDK = 'airbyte-cdk==7.39.1'

/** Installs them with npm and pip, once; what cannot be installed is left out. */
function installPeers(): Peers {
  const faros = join(FOLDER, 'npm')
  const venv = join(FOLDER, 'python')
  const python = join(venv, 'bin/python')
  return {
    faros: ifDone(faros, ['npm', 'install', '--ignore-scripts', '--prefix', faros, ...FAROS]),
    python: ifDone(
      python,
      ['python3', '-m', 'venv', venv],
      [python, '-m', 'pip', 'install', AIRBYTE_CDK],
    ),
  }
}

function ifDone(result: string, ...commands: readonly (readonly [string, ...string[]])[]) {
  try {
    for (const [program, ...words] of commands) execFileSync(program, words, { stdio: 'ignore' })
    return result
  } catch {
    return undefined
  }
}

const ROUNDS = 3

export interface PeerCosts {
  readonly name: 'faros-airbyte-cdk' | 'airbyte-cdk'
  /** An eighth of the records, which shows what the start costs, */
  readonly few: Measured<'ours' | 'peer'>
  /** and all of them. */
  readonly many: Measured<'ours' | 'peer'>
}

/** The same stream by the kits that sources are written with, beside ours in turn. */
export async function* peerCosts(): AsyncGenerator<PeerCosts> {
  const { faros, python } = installPeers()
  if (faros !== undefined) {
    const program = [join(PROJECT, 'bench/peers/faros.mjs')]
    yield await beside('faros-airbyte-cdk', 8, program, { env: { PEERS: faros } })
  }
  if (python !== undefined) {
    const program = [join(PROJECT, 'bench/peers/airbyte_cdk_source.py')]
    yield await beside('airbyte-cdk', 0.8, program, { interpreter: [python] })
  }
}

async function beside(
  name: PeerCosts['name'],
  millions: number,
  program: readonly string[],
  options: MeasureOptions,
): Promise<PeerCosts> {
  const few = await costsOf(millions / 8, program, options)
  return { name, few, many: await costsOf(millions, program, options) }
}

async function costsOf(
  millions: number,
  program: readonly string[],
  options: MeasureOptions,
): Promise<Measured<'ours' | 'peer'>> {
  const server = await startServer({ pages: millions * 1000, kept: 1000, pageSize: 1000 })
  const { origin } = server
  const env = { ...options.env, LINK: `${origin}/connector/svcapi/api/v1/clockings` }
  try {
    const of = await inTurn(ROUNDS, {
      ours: () => withConnector({ origin, streams: ['clockings'] }, (p) => measure(p)),
      peer: () => withFiles((files) => measure([...program, ...files], { ...options, env })),
    })
    return { of, millions }
  } finally {
    await server.stop()
  }
}

/** Calls `use` with the command line of a full refresh of the stream. */
async function withFiles(use: (words: string[]) => Promise<Cost>): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const [config, catalog] = [join(folder, 'config.json'), join(folder, 'catalog.json')]
  const stream = { name: 'clockings', json_schema: {}, supported_sync_modes: ['full_refresh'] }
  const chosen = { stream, sync_mode: 'full_refresh', destination_sync_mode: 'append' }
  writeFileSync(config, '{}')
  writeFileSync(catalog, JSON.stringify({ streams: [chosen] }))
  try {
    return await use(['read', '--config', config, '--catalog', catalog])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export async function* peers(): AsyncGenerator<string> {
  let count = 0
  for await (const { name, few, many } of peerCosts()) {
    count++
    const more = further(few, many)
    for (const one of ['ours', 'peer'] as const) {
      const line = rateLine(one, many.millions * 1e6, many.of).replace('peer', name)
      yield `${line}, each further million ${more(one, 'seconds').toFixed(2)} s, ${more(one, 'cpuSeconds').toFixed(2)} CPU s`
    }
    yield `ours is ${(more('peer', 'seconds') / more('ours', 'seconds')).toFixed(1)} times ${name}, start-up left out`
  }
  if (count === 0) yield 'neither npm nor Python can install the other kits here'
}
