import { Numbers } from './numbers.ts'

/** A list of values of which few differ, such as dates: 4 bytes for each, and each value once. */
export class RepeatedValues<T> {
  readonly #codes = new Numbers(Uint32Array)
  readonly #values: T[] = []
  readonly #codeOf = new Map<T, number>()

  push(value: T): void {
    const known = this.#codeOf.get(value)
    this.#codes.insert(known ?? this.#values.length)
    if (known !== undefined) return
    this.#codeOf.set(value, this.#values.length)
    this.#values.push(value)
  }

  at(index: number): T {
    return this.#values[this.#codes.at(index)] as T
  }

  /** Tests whether the value at an index is this one, without reading it. */
  tester(value: unknown): (index: number) => boolean {
    const code = this.#codeOf.get(value as T)
    if (code === undefined) return () => false
    return (index) => this.#codes.at(index) === code
  }
}
