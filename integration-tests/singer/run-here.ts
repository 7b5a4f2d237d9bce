import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { createConnector } from '../../src/connector.ts'
import { shortRetryPolicy } from '../../src/http/testing/short-retry-policy.ts'
import { runSinger } from '../../src/protocol/singer/cli.ts'
import { createCutOutput } from '../histories/cut-output.ts'
import { type SingerMessage, singerFaults } from './message.ts'
import { flagsOf, parseMessages, type TapFiles } from './run-tap.ts'

/** Attempts of a request that fails, in all; their waits cost no time. */
const ATTEMPTS = 6

/** Runs the tap in this process, with its output into a stream; answers with the exit code. */
export async function runHere(files: TapFiles, stdout: Writable): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tap-protime-'))
  try {
    return await runSinger(flagsOf(folder, files), createConnector(shortRetryPolicy(ATTEMPTS)), {
      stdout,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A sync in this process whose reader leaves after so many lines; 0 reads all of them. */
export async function syncHere(
  files: TapFiles,
  lines = 0,
): Promise<{ exitCode: number; messages: SingerMessage[] }> {
  const output = createCutOutput(lines)
  const exitCode = await runHere(files, output)
  const messages = parseMessages(output.text())
  const faults = singerFaults(messages, lines === 0)
  if (faults.length > 0) throw new Error(`the run breaks Singer: ${faults.slice(0, 5).join('\n')}`)
  return { exitCode, messages }
}
