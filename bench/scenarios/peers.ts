import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT, withConnector } from '../connector.ts'
import { installPeers } from '../install-peers.ts'
import {
  type Cost,
  inTurn,
  type MeasureOptions,
  type Medians,
  measure,
  rateLine,
  startServer,
} from '../measure.ts'

const ROUNDS = 3

export interface PeerCosts {
  readonly name: 'faros-airbyte-cdk' | 'airbyte-cdk'
  readonly records: number
  readonly of: Medians<'ours' | 'peer'>
}

/** The same stream by the kits that sources are written with, beside ours in turn. */
export async function* peerCosts(): AsyncGenerator<PeerCosts> {
  const { faros, python } = installPeers()
  if (faros !== undefined) {
    const program = [join(PROJECT, 'bench/peers/faros.mjs')]
    yield await beside('faros-airbyte-cdk', 1_000_000, program, { env: { PEERS: faros } })
  }
  if (python !== undefined) {
    const program = [join(PROJECT, 'bench/peers/airbyte_cdk_source.py')]
    yield await beside('airbyte-cdk', 100_000, program, { interpreter: [python] })
  }
}

async function beside(
  name: PeerCosts['name'],
  records: number,
  program: readonly string[],
  options: MeasureOptions,
): Promise<PeerCosts> {
  const server = await startServer({ pages: records / 1000, pageSize: 1000 })
  const { origin } = server
  const env = { ...options.env, LINK: `${origin}/connector/svcapi/api/v1/clockings` }
  try {
    const of = await inTurn(ROUNDS, {
      ours: () => withConnector({ origin, streams: ['clockings'] }, (p) => measure(p)),
      peer: () => withFiles((files) => measure([...program, ...files], { ...options, env })),
    })
    return { name, records, of }
  } finally {
    await server.stop()
  }
}

/** The words of a full refresh of the stream. */
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
  for await (const { name, records, of } of peerCosts()) {
    count++
    yield rateLine('ours', records, of)
    yield rateLine('peer', records, of).replace('peer', name)
    yield `ours is ${(of('peer', 'seconds') / of('ours', 'seconds')).toFixed(1)} times ${name}`
  }
  if (count === 0) yield 'neither npm nor Python can install the other kits here'
}
