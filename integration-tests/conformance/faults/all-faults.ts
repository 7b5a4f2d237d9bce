import { faultsOfAnswers } from './of-answers.ts'
import { faultsOfCircumstances } from './of-circumstances.ts'
import { faultsOfReads } from './of-reads.ts'

/** Everything that the suite has been seen to notice. */
export const allFaults = [...faultsOfAnswers, ...faultsOfReads, ...faultsOfCircumstances]

/** What the faulty connector prints when it could not be as faulty as it should. */
export const FAILED_AS_SUCH = 'the faulty connector failed'
