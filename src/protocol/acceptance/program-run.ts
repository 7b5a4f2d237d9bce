/** What a program was run with and what came of it, for those who judge it by the rules of its protocol. */
export interface ProgramRun {
  /** Null for a process that was ended by a signal. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  /**
   * Of a source over the Airbyte protocol: the streams of its catalog, as `discover` offers them or around them a choice. Their
   * schemas and keys are what records are held to; a stream that has none is held to nothing there.
   */
  readonly catalog?: { readonly streams: readonly object[] }
  /** Values of the configuration that only records and states may tell. */
  readonly secrets?: readonly string[]
  /** Its output was cut off: only the rules that hold for every beginning of an output are kept. */
  readonly isCut?: boolean
}

/** The messages of an output, one per line, and how many lines are none. What a cut output ends with is left out. */
export function messagesOf<T>({ stdout, isCut }: ProgramRun): {
  readonly messages: readonly T[]
  readonly faults: readonly string[]
} {
  const lines = stdout.split('\n')
  const last = lines.pop()
  const faults = last === '' || isCut ? [] : ['the last line has no end']
  const messages: T[] = []
  for (const [i, line] of lines.entries()) {
    const message = parsed(line)
    if (typeof message === 'object' && message !== null) messages.push(message as T)
    else faults.push(`line ${i + 1} is not a JSON object`)
  }
  return { messages, faults }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Shorter ones are found in any text. */
const SHORTEST = 8

/** Whether a text holds a secret: as it is, or escaped for JSON or a URL. */
export function tellsSecret(text: string, { secrets = [] }: ProgramRun): boolean {
  return secrets
    .filter(({ length }) => length >= SHORTEST)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .some((form) => text.includes(form))
}
