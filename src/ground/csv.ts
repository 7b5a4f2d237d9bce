/** A field and what ends it; in quotes, a quote is written twice. */
const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?$)/y

/**
 * The fields of a CSV record (RFC 4180), without its line break; undefined for an empty field without quotes. Undefined
 * if the text is not a record: a quote is not closed, or stands within a field.
 */
export function parseCsvRecord(text: string): readonly (string | undefined)[] | undefined {
  const fields: (string | undefined)[] = []
  FIELD.lastIndex = 0
  for (;;) {
    const [found, quoted, plain, end] = FIELD.exec(text) ?? []
    if (found === undefined) return undefined
    fields.push(quoted?.replaceAll('""', '"') ?? (plain === '' ? undefined : plain))
    if (end !== ',') return fields
  }
}

/** Whether a quote that is open before a line is closed after it, or the other way round. */
export function opensOrClosesQuote(line: string | undefined): boolean {
  return line !== undefined && line.split('"').length % 2 === 0
}
