const FIRST_CAPACITY = 64

/** A list of numbers in a typed array that doubles when it is full: 4 or 8 bytes for each. */
export class Numbers {
  #values: Uint32Array | Float64Array
  #length = 0

  /** `Uint32Array` holds whole numbers from 0 on, `Float64Array` any number. */
  constructor(Values: Uint32ArrayConstructor | Float64ArrayConstructor) {
    this.#values = new Values(FIRST_CAPACITY)
  }

  get length(): number {
    return this.#length
  }

  /** The number at an index below `length`. */
  at(index: number): number {
    return this.#values[index] as number
  }

  set(index: number, value: number): void {
    this.#values[index] = value
  }

  /** Adds a number before the one at `index`, by default at the end. */
  insert(value: number, index = this.#length): void {
    if (this.#length === this.#values.length) this.#grow()
    if (index < this.#length) this.#values.copyWithin(index + 1, index, this.#length)
    this.#values[index] = value
    this.#length += 1
  }

  remove(index: number): void {
    this.#values.copyWithin(index, index + 1, this.#length)
    this.#length -= 1
  }

  #grow(): void {
    const Values = this.#values.constructor as Uint32ArrayConstructor
    const larger = new Values(2 * this.#length)
    larger.set(this.#values)
    this.#values = larger
  }
}
