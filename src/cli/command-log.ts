import { clean, LONGEST_ANSWER } from '../ground/clean.ts'
import type { Mask } from '../ground/mask.ts'
import { red, type Screen } from '../protocol/progress/screen.ts'
import type { CommandLog } from './command.ts'

interface CommandLogSettings {
  readonly screen: Pick<Screen, 'write' | 'isColoured'>
  readonly mask: Mask
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Asked at each line, because the command line is parsed after the log is made. */
  readonly isDebug: () => boolean
  readonly isQuiet: () => boolean
}

/**
 * The log of `protime` on stderr, a line each: the time in UTC, the level, the message. It is the same on a
 * terminal, where a server may run for days and whoever asks for help copies what stands there.
 */
export function createCommandLog(settings: CommandLogSettings): CommandLog {
  const { screen, mask, now, isDebug, isQuiet } = settings
  return {
    info: (message) => {
      if (!isQuiet()) write(`INFO ${cleaned(message)}`)
    },
    warn: (message) => write(`WARN ${cleaned(message)}`),
    error: (message) => write(red(`ERROR ${cleaned(message, LONGEST_ANSWER)}`, screen)),
    debug: (message) => {
      if (isDebug()) write(`DEBUG ${cleaned(message)}`)
    },
  }

  function cleaned(message: string, most?: number): string {
    return clean(mask.text(message), most)
  }

  function write(line: string): void {
    const time = `${new Date(now()).toISOString().slice(0, -'.000Z'.length)}Z`
    screen.write(`${time} ${line}\n`)
  }
}
