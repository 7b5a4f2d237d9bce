import { InvalidArgumentError } from 'commander'

/** The parts of `NAME=VALUE`; the value may be empty and may hold further equals signs. */
export function keyAndValue(text: string): readonly [key: string, value: string] {
  const at = text.indexOf('=')
  if (at <= 0) throw new InvalidArgumentError('It must have the form NAME=VALUE.')
  return [text.slice(0, at), text.slice(at + 1)]
}
