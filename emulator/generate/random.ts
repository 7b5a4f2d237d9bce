/** What one is picked from. */
interface Choices<T> {
  readonly length: number
  at(index: number): T | undefined
}

/** A reproducible source of chance. */
export interface Random {
  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number
  pick<T>(choices: Choices<T>): T
  /** True with the given probability. */
  chance(probability: number): boolean
  /** A GUID made of this source's numbers. */
  guid(): string
}

/** The same seed gives the same sequence (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  const hex = (length: number) => Array.from({ length }, () => int(0, 15).toString(16)).join('')
  return {
    int,
    pick: <T>(choices: Choices<T>) => choices.at(int(0, choices.length - 1)) as T,
    chance: (probability) => next() < probability,
    guid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  }
}
