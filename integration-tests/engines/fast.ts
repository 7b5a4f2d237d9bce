import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Engine } from './engine.ts'
import { startTenant } from './tenant.ts'

const FIXTURE = 'integration-tests/fixtures/invalid-config.json'
const GOOD = 'secrets/config.json'

/** One test of FAST for one configuration. */
interface TestOutcome {
  readonly test: string
  readonly config: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly text: string
}

/** What a good configuration must pass; the image tests need a Docker engine and are left out. */
const TESTS = [
  'test_config_matches_spec',
  'test_check',
  'test_discover',
  'test_basic_read',
  'test_fail_read_with_bad_catalog',
]

/** Airbyte's own test suite, by the seam that lets it run any executable. */
export const fast: Engine = {
  name: 'fast',
  requirements: ['airbyte-cdk[dev]==7.39.1', 'airbyte-connector-models==0.1.12', 'pytest==7.4.4'],
  async run({ executable, projectFolder, folder, python, step }) {
    await step('metadata.yaml is one', () =>
      python('connector_metadata.py', [join(projectFolder, 'metadata.yaml')]),
    )
    const { emulator, config } = await startTenant()
    try {
      const root = join(folder, 'source-protime')
      writeJson(join(root, GOOD), config)
      writeJson(join(root, 'secrets/wrong-secret.json'), { ...config, client_secret: 'wrong-1234' })
      mkdirSync(dirname(join(root, FIXTURE)), { recursive: true })
      for (const file of ['acceptance-test-config.yml', FIXTURE])
        copyFileSync(join(projectFolder, file), join(root, file))
      const outcomes = await step('ran', async () => {
        const answer = await python('fast.py', [executable, root])
        return JSON.parse(answer.trim().split('\n').at(-1) ?? '') as TestOutcome[]
      })
      for (const { test, config: path, outcome, text } of outcomes ?? []) {
        // What the file does not list for a configuration is skipped for it.
        if (outcome === 'skipped' && path !== 'config') continue
        await step(`${test} ${path}`.trim(), async () => {
          if (outcome !== 'passed') throw new Error(`${outcome}: ${text}`)
        })
      }
      await step('left nothing out', async () => {
        const passed = (test: string, path: string) =>
          (outcomes ?? []).some((one) => one.test === test && one.config === path)
        const missing = TESTS.filter((test) => !passed(test, 'config'))
        if (!passed('test_spec', '')) missing.push('test_spec')
        for (const path of ['wrong-secret', 'invalid-config'])
          if (!passed('test_check', path)) missing.push(`test_check ${path}`)
        if (missing.length > 0) throw new Error(`not run: ${missing.join(', ')}`)
      })
    } finally {
      await emulator.close()
    }
  },
}

function writeJson(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(content))
}
