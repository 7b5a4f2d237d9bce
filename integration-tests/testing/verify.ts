import type { Emulator } from '../../emulator/emulator.ts'
import { temporaryFolder, writeFiles } from './files.ts'
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

/**
 * What a warehouse and its service have not in common, as `protime verify` says it; `words` name the warehouse. It has the
 * service's records from the connector's own code: `compare.ts` and the histories compare with what the emulator holds.
 */
export async function verifiedDifferences(
  config: object,
  ...words: readonly string[]
): Promise<string[]> {
  const folder = temporaryFolder()
  try {
    const [, file = ''] = writeFiles(folder.path, { config })
    const { exitCode, differences, stderr } = await verify('--config', file, ...words)
    if (exitCode !== 0 && differences.length === 0) return [`protime verify failed: ${stderr}`]
    return differences.map((difference) => JSON.stringify(difference))
  } finally {
    folder.remove()
  }
}

/** The requests of a delta that the emulator was asked for. */
export function deltasOf({ requests }: Emulator): string[] {
  return requests
    .map(({ path, query }) => `${path}?${query}`)
    .filter((text) => text.includes('delta'))
}
