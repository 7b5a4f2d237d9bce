import type { RecordShape } from './page-scanner.ts'

/** The texts that a scanner compares with, in the order of their numbers (1 to 11) in the scanner. */
export function namesOf({ key, version, deleted, array }: RecordShape): readonly string[] {
  const names = [
    key,
    version,
    deleted?.field ?? key,
    array ?? key,
    'data',
    'changeType',
    'value',
    'nextlink',
    'deltalink',
    deleted?.value ?? '',
    'Delete',
  ]
  for (const name of names) {
    if (!/^[ !#-[\]-~]{0,256}$/.test(name)) {
      throw new TypeError(
        `cannot look for ${JSON.stringify(name)}: use at most 256 plain characters`,
      )
    }
  }
  return names
}
