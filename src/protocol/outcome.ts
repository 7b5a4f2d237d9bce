import type { ConnectorError } from '../errors.ts'

/** A stream that was not read to its end; without a name all of them. */
export interface Failure {
  readonly stream?: string | undefined
  readonly error: ConnectorError
}

/** The outcome of a check: what can be read, in words, or why nothing can. */
export interface CheckResult {
  readonly isReadable: boolean
  readonly message: string
}
