import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyOf, streams } from '../../../src/streams/streams.ts'
import type { Row } from '../tenant.ts'
import type { Target } from './target.ts'

/** Files with a line for each record: what came last of a key is its row. */
export function jsonlTarget(): Target {
  return {
    plugin: 'target-jsonl',
    activatesVersions: false,
    losesFirstDelete: false,
    environment: {},
    async tables({ folder }) {
      const path = join(folder, 'meltano-output/jsonl')
      return new Map(
        readdirSync(path).map((file) => {
          const name = file.replace(/\.jsonl$/, '')
          return [name, lastRows(name, readFileSync(join(path, file), 'utf8'))]
        }),
      )
    },
    asStored: (record) => record,
  }
}

function lastRows(name: string, text: string): Row[] {
  const stream = streams.get(name)
  const columns = stream === undefined ? ['id'] : keyOf(stream)
  const rows = new Map<string, Row>()
  for (const line of text.split('\n').filter(Boolean)) {
    const row = JSON.parse(line) as Row
    rows.set(JSON.stringify(columns.map((column) => row[column])), row)
  }
  return [...rows.values()]
}
