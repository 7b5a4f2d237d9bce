import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { Engine } from '../landing.ts'
import { hasContent, openDatabase, realFile } from './database.ts'
import { duckDbDialect } from './dialect.ts'
import { createLanding, readFile } from './landing.ts'
import { createFile, SCHEMAS } from './new-file.ts'
import { isParquetFolder } from './parquet.ts'
import { isTaken } from './publish.ts'
import { withRenewableFile } from './renew-file.ts'
import { assertPublishable, prepareReplacement, rewriteOf } from './replace-file.ts'
import { takeOver } from './take-over.ts'

/** Files of DuckDB. An address is a path. */
export const duckDb: Engine = {
  accepts: () => true,
  read: readFile,
  async open(path, { folder, patience, inspect, publish = '', claim, log }) {
    if (!hasContent(path)) await createFile(path, folder, claim(duckDbDialect))
    // To open a file for writing changes nothing in it unless it has a log, which becomes part of the file.
    else if (existsSync(`${path}.wal`)) {
      const asked = await readFile(path, patience)
      await inspect(asked).finally(() => asked.close())
    }
    const written = isParquetFolder(publish) ? [publish] : []
    const database = await patience(() => openDatabase(path, folder, written))
    const landing = createLanding(path, database, !isTaken(publish))
    try {
      await inspect(landing)
      await landing.run(SCHEMAS)
      await takeOver(landing, path, log)
      return landing
    } catch (error) {
      await landing.close()
      throw landing.failureOf(error).error
    }
  },
  rewrite: prepareReplacement,
  rewriteOf: (path) => rewriteOf(realFile(path)),
  renew: withRenewableFile,
  assertPublishable,
  dbtTarget: (path, project) => ({
    file: path,
    database: 'raw',
    schema: 'main',
    output: [
      'type: duckdb',
      'path: analytics/analytics.duckdb',
      'threads: 4',
      'attach:',
      '  # A sync waits for a build that reads the file, or the other way round: protime sync --wait 10m.',
      `  - {path: ${JSON.stringify(relative(resolve(project), resolve(path)))}, alias: raw, read_only: true}`,
    ],
  }),
  folderOf: (path) => path,
}
