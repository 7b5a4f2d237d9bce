import { closeSync, openSync, writeSync } from 'node:fs'
import type { Column } from './column.ts'
import type { Dialect, RowFile } from './landing.ts'
import { createRowEncoder, type Encoded } from './row-encoder.ts'
import { unwritable } from './unwritable.ts'

/** Rows of a stream that wait for the next commit, in their order. */
export interface StreamRows {
  /** The columns of the table, with those that the rows so far need. */
  readonly columns: readonly Column[]
  /** How many values did not fit a column so far. */
  readonly misfits: ReadonlyMap<Column, number>
  /** Adds records in the form of `LINE_PARTS`; returns the size of their rows in bytes. */
  add(lines: Uint8Array, generation: number): number
  /** The rows since the last call. Their files then belong to the caller. */
  take(): { readonly files: readonly RowFile[]; readonly count: number }
}

export interface StreamRowsSettings {
  readonly sql: Dialect
  readonly columns: readonly Column[]
  /** See `Warehouse.othersIn`; none if left out. */
  readonly others?: ReadonlySet<string>
  /** A path for each file. */
  readonly nextPath: () => string
  /** Called with columns that the table does not have. */
  readonly onAdded: (column: Column) => void
}

/**
 * Rows are in files, so memory does not depend on the number of waiting rows; DuckDB reads the files in
 * parallel.
 */
export function createStreamRows(settings: StreamRowsSettings): StreamRows {
  const encoder = createRowEncoder(settings.sql, settings.columns, settings.others)
  let files: RowFile[] = []
  let open: { descriptor: number; file: RowFile } | undefined
  let count = 0
  return {
    columns: encoder.columns,
    misfits: encoder.misfits,
    add(lines, generation) {
      const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length)
      let size = 0
      if (open?.file.generation !== generation) close()
      for (let at = 0; at < bytes.length; ) {
        // Rows that were encoded before a column was added have only the older columns.
        const columns = open?.file.columns ?? [...encoder.present]
        const known = encoder.columns.length
        const encoded = encoder.encode(bytes, at)
        at = encoded.end
        if (encoded.count > 0) write(encoded, { generation, columns })
        count += encoded.count
        size += encoded.rows.length
        if (encoded.added === undefined) continue
        close()
        if (encoder.columns.length > known) settings.onAdded(encoded.added)
      }
      return size
    },
    take() {
      close()
      const taken = { files, count }
      files = []
      count = 0
      return taken
    },
  }

  function write(encoded: Encoded, kind: Pick<RowFile, 'generation' | 'columns'>): void {
    const { rows } = encoded
    open ??= create(kind)
    try {
      for (let at = 0; at < rows.length; ) at += writeSync(open.descriptor, rows, at)
    } catch (error) {
      throw unwritable(error)
    }
    const { file } = open
    open.file = {
      ...file,
      count: file.count + encoded.count,
      longest: Math.max(file.longest, encoded.longest),
      imitatesRows: file.imitatesRows || encoded.imitatesRows,
    }
  }

  function create(kind: Pick<RowFile, 'generation' | 'columns'>) {
    const path = settings.nextPath()
    const file: RowFile = { ...kind, path, count: 0, longest: 0, imitatesRows: false }
    return { descriptor: openSync(path, 'w', 0o600), file }
  }

  function close(): void {
    if (open === undefined) return
    closeSync(open.descriptor)
    files.push(open.file)
    open = undefined
  }
}
