import { viewOf } from '../../protocol/byte-view.ts'
import {
  type Batch,
  DELETE,
  DROP,
  type LineParts,
  type RecordVisitor,
  SOFT_DELETE,
  UPSERT,
} from '../../protocol/record-batch.ts'
import { highest } from '../wasm-batch.ts'

/** A record as the reference scanner found it. Texts have a character per byte. */
export interface ReferenceRecord {
  readonly text: string
  readonly keyText: string
  readonly version: string | undefined
  readonly isRemoved: boolean
  readonly isMarked: boolean
}

/** A batch of records that are held one by one. */
export class ReferenceBatch implements Batch {
  readonly count: number
  readonly ops: Uint8Array
  readonly keys: Float64Array
  readonly #records: readonly ReferenceRecord[]

  constructor(records: readonly ReferenceRecord[]) {
    this.#records = records
    this.count = records.length
    this.ops = Uint8Array.from(records, kindOf)
    this.keys = Float64Array.from(records, ({ keyText }) => integerOf(keyText))
  }

  get highestVersion(): string | undefined {
    return highest(this)
  }

  keyText(index: number): string {
    return Buffer.from(this.#record(index).keyText, 'latin1').toString()
  }

  versionText(index: number): string | undefined {
    return this.#record(index).version
  }

  record(index: number): Uint8Array {
    return Buffer.from(this.#record(index).text, 'latin1')
  }

  visit(index: number, visitor: RecordVisitor): void {
    visitor(viewOf(this.record(index)), 0)
  }

  lines({ prefix, suffix, deleteSuffix }: LineParts): Uint8Array<ArrayBuffer> {
    const pieces: Uint8Array[] = []
    this.#records.forEach(({ text }, index) => {
      if (this.ops[index] === DROP) return
      const open = Buffer.from(text.slice(0, -1), 'latin1')
      pieces.push(prefix, open, this.ops[index] === UPSERT ? suffix : deleteSuffix)
    })
    return Uint8Array.from(Buffer.concat(pieces))
  }

  #record(index: number): ReferenceRecord {
    const record = this.#records[index]
    if (record === undefined) throw new RangeError(`the batch has no record ${index}`)
    return record
  }
}

function kindOf({ isRemoved, isMarked }: ReferenceRecord): number {
  if (isRemoved) return DELETE
  return isMarked ? SOFT_DELETE : UPSERT
}

function integerOf(keyText: string): number {
  const number = /^\d{1,16}$/.test(keyText) ? Number(keyText) : Number.NaN
  return Number.isSafeInteger(number) ? number : Number.NaN
}
