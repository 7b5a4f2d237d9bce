import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAcceptanceConfig } from './acceptance-config.ts'
import { type Evidence, gatherEvidence, type Subject } from './evidence.ts'
import { judgesOfAnswers } from './judges-of-answers.ts'
import { judgesOfReads } from './judges-of-reads.ts'

/** A rule may need some dozen reads, on a machine that has other work. */
const LIMIT = { timeout: 180_000 }

/** Every rule of the suite. */
export const allJudges = [...judgesOfAnswers, ...judgesOfReads]

/** What a connector needs around it while it is judged. */
export interface Prepared extends Pick<Subject, 'configs' | 'expected'> {
  close?(): Promise<void>
}

export interface ConformanceSettings {
  /** Path of the executable that takes spec, check, discover and read. */
  readonly executable: string
  /** Path of an acceptance-test-config.yml; what it names is relative to its folder. */
  readonly configFile: string
  /** Runs once before the tests, for example to start a service. */
  readonly prepare?: () => Promise<Prepared>
}

/** Registers a test for each rule and each configuration that the file lists. */
export function conformanceSuite({ executable, configFile, prepare }: ConformanceSettings): void {
  const acceptance = readAcceptanceConfig(configFile)
  const paths = [...new Set(acceptance.entries.map(({ config_path: path }) => path))]
  const evidence = new Map<string, Evidence>()
  let prepared: Prepared = {}

  beforeAll(async () => {
    prepared = (await prepare?.()) ?? {}
    const { configs, expected } = prepared
    const subject: Subject = {
      executable,
      acceptance,
      ...(configs && { configs }),
      ...(expected && { expected }),
    }
    for (const path of paths) evidence.set(path, gatherEvidence(subject, path))
  })
  afterAll(() => prepared.close?.())

  describe.each(paths)('%s', (path) => {
    const listed = (section: string) =>
      acceptance.entries.some((one) => one.section === section && one.config_path === path)
    for (const { name, faults } of allJudges.filter(({ section }) => listed(section))) {
      it(name, LIMIT, async () => expect(await faults(evidence.get(path) as Evidence)).toEqual([]))
    }
  })
}
