import { HttpError } from '../http/http-error.ts'

/** 404 or 405 for a request of ours: the collection does not have this operation here. */
export function isNotOffered(error: unknown): boolean {
  return error instanceof HttpError && (error.status === 404 || error.status === 405)
}
