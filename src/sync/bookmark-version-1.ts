type Fields = Readonly<Record<string, unknown>>

/** The words of version 1 (0.1.0 before its release), and those of now. */
const PHASE_OF_PART: Readonly<Record<string, string>> = {
  load: 'initial',
  history: 'backfill',
  changes: 'changes',
  list: 'list',
  listed: 'complete',
}

/** The fields of version 2 that have another name or form in version 1. */
export function fromVersion1(blob: Fields): Fields {
  const group = (keys: unknown, version: unknown, isUnseen: boolean) =>
    typeof keys === 'string' ? [{ keys, version: version ?? null, isUnseen }] : []
  const pending = [
    ...group(blob['unconfirmed'], blob['unconfirmed_version'], true),
    ...group(blob['suspects'], blob['suspects_version'], false),
  ]
  return {
    bookmark_version: 2,
    phase: PHASE_OF_PART[String(blob['part'])] ?? '',
    requested: blob['asked'],
    backfilled_at: blob['history_at'],
    window_ids: blob['live'],
    backfill_ids: blob['history'],
    pending: pending.length === 0 ? null : JSON.stringify(pending),
  }
}
