import type { Emulator } from '../../emulator/emulator.ts'
import { protime } from './protime.ts'

/** What a run of `protime verify` said. */
export interface VerifyRun {
  readonly exitCode: number
  readonly differences: readonly Readonly<Record<string, unknown>>[]
  readonly summary: Readonly<Record<string, unknown>>
  readonly stdout: string
  readonly stderr: string
}

/** Runs `protime verify` in this process. */
export async function verify(...words: readonly string[]): Promise<VerifyRun> {
  const { exitCode, stdout, stderr } = await protime('verify', ...words)
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  return { exitCode, differences: lines.slice(0, -1), summary: lines.at(-1) ?? {}, stdout, stderr }
}

/** The requests of a delta that the emulator was asked for. */
export function deltasOf({ requests }: Emulator): string[] {
  return requests
    .map(({ path, query }) => `${path}?${query}`)
    .filter((text) => text.includes('delta'))
}
