import type { ProtocolMessage } from './transcript.ts'

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Parses a line so that `1.0` is no integer, as CAT and FAST have it: JavaScript cannot tell 1.0
 * from 1, so a number that is written as a fraction and is none gets one.
 */
export function parseStrictly(line: string): ProtocolMessage {
  return JSON.parse(
    line.replace(STRING_OR_NUMBER, (token) =>
      /^-?\d+[.eE]/.test(token) && Number.isInteger(Number(token)) ? `${Number(token)}.5` : token,
    ),
  ) as ProtocolMessage
}
