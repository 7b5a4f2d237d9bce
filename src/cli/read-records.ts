import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { isDeleted } from '../protocol/deleted-record.ts'
import { isJsonObject, tryParseJson } from '../protocol/json.ts'
import type { WriteRecord } from '../write/write-record.ts'
import { UsageError } from './exit-code.ts'

/** A line of the input; one that is no record has a fault, and no data. */
export interface InputRecord extends Pick<WriteRecord, 'data' | 'isDelete' | 'fault'> {
  /** The first one is 1. */
  readonly line: number
}

/** The records of a file, or of stdin (`-`), one JSON object per line; empty lines are left out. */
export async function readRecords(from: string): Promise<AsyncIterable<InputRecord>> {
  return toRecords(from === '-' ? process.stdin : await openFile(from))
}

async function openFile(path: string): Promise<NodeJS.ReadableStream> {
  try {
    return (await open(path)).createReadStream()
  } catch (error) {
    throw new UsageError(`the file of --from cannot be read: ${(error as Error).message}`)
  }
}

async function* toRecords(input: NodeJS.ReadableStream): AsyncGenerator<InputRecord> {
  let line = 0
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line++
    const bare = text.replace(/^\ufeff/, '').trim()
    if (bare !== '') yield { line, ...toRecord(bare) }
  }
}

function toRecord(text: string): Omit<InputRecord, 'line'> {
  const data = tryParseJson(text)
  if (!isJsonObject(data))
    return { data: {}, isDelete: false, fault: 'The line is not a JSON object.' }
  return { data, isDelete: isDeleted(data) }
}
