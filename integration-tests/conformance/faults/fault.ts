/** Something that a connector does wrong, on purpose. */
export interface Fault {
  /** What it does, as a sentence without a subject. */
  readonly does: string
  /** The rule of the suite that has to notice. */
  readonly brokenRule: string
  /** The configuration with which it shows; default: the good one. */
  readonly config?: string
  /** The only command that it spoils; default: all. */
  readonly command?: string
  /** Shows only when the state file is like this. */
  readonly onlyWithState?: RegExp
  /** Shows only when stdout is a file. */
  readonly onlyIntoAFile?: true
  /** Changes the lines of stdout. */
  readonly lines?: (lines: readonly string[]) => string[]
  readonly exitCode?: number
  readonly stderr?: string
  /** Reads as if there were no state file. */
  readonly ignoresState?: true
  /** How the process ends badly. */
  readonly ending?: 'exit without drain' | 'swallow EPIPE' | 'exit 143'
  /** Fails unless it stands in this kind of folder. */
  readonly needsOwnFolder?: true
}

// biome-ignore lint/suspicious/noExplicitAny: what is broken on purpose has no type
type Loose = any

/** Changes each message of a type; what the change returns takes its place. */
export function each(type: string, change: (message: Loose, index: number) => Loose | Loose[]) {
  return (lines: readonly string[]): string[] => {
    let index = 0
    return lines.flatMap((line) => {
      const message = JSON.parse(line)
      if (message.type !== type) return [line]
      return [change(message, index++)].flat().map((changed) => JSON.stringify(changed))
    })
  }
}

/** Changes only the first message of a type that fits. */
export function first(
  type: string,
  change: (message: Loose) => Loose | Loose[],
  fits: (message: Loose) => boolean = () => true,
) {
  return (lines: readonly string[]): string[] => {
    let isDone = false
    return each(type, (message) => {
      if (isDone || !fits(message)) return message
      isDone = true
      return change(message)
    })(lines)
  }
}

/** Says one more thing before everything else, or after it. */
export function before(line: string) {
  return (lines: readonly string[]): string[] => [line, ...lines]
}

export function after(message: object) {
  return (lines: readonly string[]): string[] => [...lines, JSON.stringify(message)]
}

/** A TRACE message of an error. */
export function errorTrace(failure: string, stream?: string): object {
  const of = stream === undefined ? {} : { stream_descriptor: { name: stream } }
  const error = { message: 'It failed.', failure_type: `${failure}_error`, ...of }
  return { type: 'TRACE', trace: { type: 'ERROR', emitted_at: Date.now(), error } }
}
