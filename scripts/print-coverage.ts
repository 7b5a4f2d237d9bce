import { coverageText, readCoverage } from './coverage.ts'

/** `npm run coverage`: the rules of the service's specification, and the tests that show each. */
const { sections, shown } = readCoverage()
process.stdout.write(coverageText(sections, shown))
