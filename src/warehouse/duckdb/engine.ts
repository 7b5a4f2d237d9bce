import type { Engine } from '../landing.ts'
import { hasContent, openDatabase } from './database.ts'
import { duckDbDialect } from './dialect.ts'
import { createLanding, readFile } from './landing.ts'
import { createFile } from './new-file.ts'
import { assertPublishable, prepareReplacement } from './replace-file.ts'
import { takeOver } from './take-over.ts'

/** Files of DuckDB. An address is a path. */
export const duckDb: Engine = {
  accepts: () => true,
  read: readFile,
  async open(path, { folder, patience, inspect, claim, log }) {
    if (hasContent(path)) {
      const asked = await readFile(path, patience)
      await inspect(asked).finally(() => asked.close())
    } else await createFile(path, folder, claim(duckDbDialect))
    const landing = createLanding(path, await patience(() => openDatabase(path, folder)))
    try {
      await takeOver(landing, path, log)
      return landing
    } catch (error) {
      await landing.close()
      throw landing.failureOf(error).error
    }
  },
  rewrite: prepareReplacement,
  assertPublishable,
  folderOf: (path) => `${path}.sync`,
}
