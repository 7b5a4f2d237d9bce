import type { Random } from '../random.ts'
import type { Fields } from '../store.ts'

// The first of these that a record has is what a user would correct.
const minutes = [
  'timeOfDayInMinutes',
  'durationInMinutes',
  'timePresentDurationInMinutes',
  'clockedDurationInMinutes',
  'breakDurationInMinutes',
  'contractHoursInMinutes',
]

/**
 * The properties that a plausible correction of the record changes; at least one differs from
 * before.
 */
export function plausibleChange(record: Fields, random: Random): Fields {
  const corrected = minutes.find((property) => typeof record[property] === 'number')
  if (corrected !== undefined) {
    const before = Number(record[corrected])
    const kept = 'kind' in record && corrected === minutes[0]
    const original = kept ? { originalTimeOfDayInMinutes: before } : {}
    // Upwards in the morning, downwards in the evening: the time stays on its day.
    const step = random.int(1, 15) * (before > 700 ? -1 : 1)
    return { [corrected]: before + step, ...original }
  }
  if (typeof record['name'] === 'object') return { name: renamed(record['name'] as Fields, random) }
  if ('lastName' in record) return { mobile: `+32 471 ${random.int(100_000, 999_999)}` }
  if ('until' in record) return { until: record['until'] === null ? record['from'] : null }
  return { externalCode: `Z${random.int(1000, 9999)}` }
}

function renamed(name: Fields, random: Random): Fields {
  const plain = String(name['default']).replace(/ \(was .*/, '')
  return { ...name, default: `${plain} (was ${random.int(1, 1_000_000)})` }
}
