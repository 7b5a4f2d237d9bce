import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CoverageSection, type Shown, taggedTests } from './coverage.ts'

const FOLDERS = ['src', 'emulator', 'integration-tests', 'scripts', 'bench']

/** The rules of the specification, and the tests of the present folder that name them. */
export function readCoverage(): { sections: CoverageSection[]; shown: Shown[] } {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  const tests = files.filter((file) => /\.(test|nightly)\.ts$/.test(file)).toSorted()
  return {
    sections: JSON.parse(readFileSync('docs/coverage.json', 'utf8')) as CoverageSection[],
    shown: tests
      .filter((file) => file !== 'scripts/coverage.test.ts')
      .flatMap((file) => taggedTests(file, readFileSync(file, 'utf8'))),
  }
}
