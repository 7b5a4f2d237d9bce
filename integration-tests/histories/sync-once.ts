import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnector } from '../../src/connector.ts'
import { shortRetryPolicy } from '../../src/http/testing/short-retry-policy.ts'
import { runAirbyte } from '../../src/protocol/airbyte/cli.ts'
import { type Message, protocolFaults } from '../airbyte-message.ts'
import { type Chosen, configuredCatalog, nameOf, parseLines, run } from '../connector.ts'
import { type Judged, platformFaults } from '../platform-rules.ts'
import { createCutOutput } from './cut-output.ts'
import type { Place } from './history.ts'

/** What a sync is run with. */
export interface SyncFiles {
  readonly config: object
  readonly catalog: readonly Chosen[]
  readonly state: readonly object[]
}

/** What came out of a sync. */
export interface Outcome {
  readonly exitCode: number | null
  readonly messages: readonly Message[]
  /** Of an output that was cut: how many messages came before the write that broke. */
  readonly whole: number | undefined
}

/** Attempts of a request that fails, in all; their waits cost no time. */
const ATTEMPTS = 6

/**
 * One `read`, dead after so many lines (0: never). Throws when a line breaks the protocol, or a
 * whole run the platform's rules.
 */
export function syncOnce(files: SyncFiles, killAfter: number, place: Place): Promise<Outcome> {
  return place === 'executable' ? throughExecutable(files, killAfter) : here(files, killAfter)
}

async function throughExecutable(files: SyncFiles, killAfter: number): Promise<Outcome> {
  const options = killAfter > 0 ? { killAfterLines: killAfter } : {}
  const { exitCode, messages } = await run('read', files, options)
  const isCut = killAfter > 0 && messages.length >= killAfter
  // Nobody can tell one write of a process from the next.
  return isCut
    ? { exitCode, messages: upTo(messages, killAfter), whole: 0 }
    : { exitCode, messages, whole: undefined }
}

/** The lines that were under way when the process died have nobody who read them. */
function upTo(messages: readonly Message[], lines: number): readonly Message[] {
  return messages.slice(0, lines)
}

async function here({ config, catalog, state }: SyncFiles, killAfter: number): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'source-protime-'))
  try {
    const files = { config, catalog: configuredCatalog(catalog), state }
    const flags = Object.entries(files).flatMap(([name, content]) => {
      const path = join(folder, `${name}.json`)
      writeFileSync(path, JSON.stringify(content))
      return [`--${name}`, path]
    })
    const output = createCutOutput(killAfter)
    const exitCode = await runAirbyte(
      ['read', ...flags],
      createConnector(shortRetryPolicy(ATTEMPTS)),
      { stdout: output },
    )
    const messages = parseLines(output.text())
    judge({ exitCode, messages }, catalog.map(nameOf), killAfter > 0)
    return { exitCode, messages, whole: output.wholeLines() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function judge(outcome: Judged, streams: readonly string[], isCut: boolean): void {
  const faults = outcome.messages.map(protocolFaults).filter(Boolean)
  if (!isCut) faults.push(...platformFaults(outcome, streams))
  if (faults.length > 0)
    throw new Error(`the run breaks the protocol: ${faults.slice(0, 5).join('\n')}`)
}
