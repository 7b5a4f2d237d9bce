import { totalmem } from 'node:os'
import type { ResolvedOptions } from '../options.ts'
import { openBytes } from '../store/blocks.ts'
import { mostDaysInService } from './people.ts'

/** What a tenant holds, and what a record takes: rounded up from what was measured. */
const RECORDS = { perPerson: 50, perMonth: 165 }
const BYTES = { asText: 330, held: 100 }

/**
 * Throws a sentence when a tenant of so many people and months needs more memory than there is.
 */
export function checkTenantSize(
  { people, months }: Pick<ResolvedOptions, 'people' | 'months'>,
  memory = memoryThereIs(),
): void {
  const inService = Math.min(months, mostDaysInService / 30)
  const records = people * (RECORDS.perPerson + inService * RECORDS.perMonth)
  const needed = records * BYTES.held + Math.min(records * BYTES.asText, openBytes)
  if (needed <= memory) return
  const size = `${people} people and ${months} months are about ${Math.ceil(records / 1e6)} million records`
  throw new RangeError(
    `${size}, which need ${gigabytes(needed)} of memory. There are ${gigabytes(memory)}: take fewer people or months.`,
  )
}

// What is free on macOS says little: the rest is given up when it is needed.
function memoryThereIs(): number {
  return process.platform === 'darwin' ? totalmem() : process.availableMemory()
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}
