/**
 * Which streams were read completely in this run, by their versions. ACTIVATE_VERSION alone does not tell:
 * some taps send it before the records, and a tap that continues an interrupted reading sends only the rest
 * of it under the version that it has kept.
 */
export interface Versions {
  /** A RECORD came, with its version if it has one. */
  record(stream: string, version: unknown): void
  /** A STATE came. */
  state(value: unknown): void
  /** An ACTIVATE_VERSION came. */
  activate(stream: string, version: unknown): void
  /** Whether all records of the stream came in this run. */
  isComplete(stream: string): boolean
}

/** Makes the versions of a run; call its methods in the order of the messages. */
export function createVersions(): Versions {
  const complete = new Map<string, boolean>()
  const latest = new Map<string, unknown>()
  /** Versions that began before this run, by stream. */
  const resumed = new Map<string, unknown>()
  let state: unknown
  return {
    record(stream, version) {
      if (version === undefined || latest.get(stream) === version) return
      latest.set(stream, version)
      complete.set(stream, false)
      // The states before its first record know what the runs before this one have read.
      if (holds(bookmarkOf(state, stream), version)) resumed.set(stream, version)
    },
    /** A STATE came. */
    state(value) {
      state = value
    },
    /** An ACTIVATE_VERSION came. */
    activate(stream, version) {
      const isWhole = version === latest.get(stream) && version !== resumed.get(stream)
      if (version !== undefined) complete.set(stream, isWhole)
    },
    isComplete: (stream) => complete.get(stream) === true,
  }
}

function bookmarkOf(state: unknown, stream: string): unknown {
  const { bookmarks } = (state ?? {}) as { readonly bookmarks?: Readonly<Record<string, unknown>> }
  return bookmarks === undefined ? state : bookmarks[stream]
}

/** Whether a version stands anywhere in a bookmark. */
function holds(value: unknown, version: unknown): boolean {
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some((member) => holds(member, version))
  return value === version || value === String(version)
}
