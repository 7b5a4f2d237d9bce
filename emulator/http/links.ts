import type { ResolvedOptions } from '../options.ts'

/** The parts of a query in order; left-out values are not written. */
type LinkParameters = readonly (readonly [name: string, value: string | undefined])[]

/** Writes the links that the service returns. */
export interface Links {
  /** `/connector/<api>/api/v1` */
  readonly prefix: string
  /** A link to a path below the prefix, in the form of the dialect. */
  to(path: string, parameters: LinkParameters): string
  /** The address of a new resource in the header `Location`. */
  location(path: string): string
}

/**
 * In the documentation links are relative, with raw spaces and quotes; in the specification they are
 * absolute and encoded. `origin` is a function because the port is known only once the server listens.
 */
export function createLinks(options: ResolvedOptions, origin: () => string): Links {
  const prefix = `/connector/${options.apiName}/api/v1`
  const absolute = options.dialect === 'specification'
  const write = absolute ? encodeURIComponent : raw
  return {
    prefix,
    to(path, parameters) {
      const query = parameters
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${name}=${write(value ?? '')}`)
      return `${absolute ? origin() : ''}${prefix}${path}?${query.join('&')}`
    },
    location: (path) => `${options.location === 'absolute' ? origin() : ''}${prefix}${path}`,
  }
}

// Only what would change the meaning of the query is encoded.
function raw(value: string): string {
  return value.replace(/[%&#]/g, encodeURIComponent)
}
