import { createPrivateFile } from '../ground/private-file.ts'
import { packageVersion } from '../ground/project-files.ts'
import type { PersonDialect } from '../person/dialects.ts'
import { erasePerson } from '../person/erase-person.ts'
import {
  exportedLine,
  idsByReference,
  type PersonReference,
  readPerson,
} from '../person/export-person.ts'
import { personSql } from '../person/print-sql.ts'
import { personCodes } from '../privacy/person-codes.ts'
import { createSource, offeredStreams } from '../source/source.ts'
import { createPatience } from '../warehouse/duckdb.ts'
import { openOwned } from '../warehouse/renew-file.ts'
import { type ActionTools, EXIT, type ExitCode, orStartError, UsageError } from './command.ts'
import { ownerOf, streamNames } from './sync-action.ts'

export interface ExportOptions {
  readonly warehouse: string
  readonly reference?: PersonReference
  /** A new file; without it, the lines go to stdout. */
  readonly output?: string
}

export interface EraseOptions {
  readonly warehouse: string
  readonly publish: readonly string[]
}

/** Prints the rows of a person, and then those of others that may name the person, one JSON line each. */
export async function exportPerson(
  tools: ActionTools,
  given: string | undefined,
  { warehouse, reference, output }: ExportOptions,
): Promise<ExitCode> {
  const { config, log, print } = tools
  if ((given === undefined) === (reference === undefined))
    throw new UsageError('name the person by an id, or by --reference')
  const patience = createPatience(0, tools)
  const database = await orStartError(openOwned(warehouse, ownerOf(config), patience))
  try {
    const { connection } = database
    const ids =
      reference === undefined
        ? [String(given)]
        : await idsByReference(connection, reference, config.privacy)
    if (ids.length > 1)
      throw new UsageError(`the reference leads to ${ids.length} people; name one by its id`)
    const [id] = ids
    const { rows, toJudge } =
      id === undefined ? { rows: [], toJudge: [] } : await readPerson(connection, id)
    if (rows.length === 0) return notFound(tools, warehouse)
    const lines = [...rows, ...toJudge].map(exportedLine)
    if (output === undefined) for (const line of lines) await print(line)
    else await writeNew(output, lines)
    const streams = new Set(rows.map(({ stream }) => stream)).size
    log.info(
      `${rows.length} rows of ${streams} streams are the person's; ${toJudge.length} rows of others may name the person: judge them before you pass them on.`,
    )
    return EXIT.done
  } finally {
    database.close()
  }
}

async function writeNew(path: string, lines: readonly string[]): Promise<void> {
  try {
    await createPrivateFile(path, lines.map((line) => `${line}\n`).join(''))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why =
      code === 'EEXIST'
        ? `exists already: ${path}; name a new one`
        : `cannot be written: ${message}`
    throw new UsageError(`the file of --output ${why}`)
  }
}

/** Erases a person from a warehouse, and prints the receipt. */
export async function erase(
  tools: ActionTools,
  id: string,
  { warehouse: path, publish }: EraseOptions,
): Promise<ExitCode> {
  const { config, log, mask, signal, say } = tools
  const source = createSource()
  const { pseudonyms } = config.privacy
  const receipt = await erasePerson({
    ...{ id, path, copies: publish, owner: ownerOf(config), patience: createPatience(0, tools) },
    // Messages about a sync, which this is not.
    asking: {
      source,
      config,
      streams: chosenStreams(tools),
      tools: { log: { ...log, info: log.debug }, mask, signal },
    },
    code: pseudonyms && personCodes(pseudonyms).of(id),
    version: packageVersion(),
    now: new Date(),
  })
  await say(receipt)
  const { rows, toJudge, found, others } = receipt
  if (found > 0 && toJudge.length + others.length === 0)
    log.warn(
      `${found} names or numbers of the person are still in the bytes of the file or its copies. Values that are in many rows can be meant.`,
    )
  if (toJudge.length > 0)
    log.warn(
      `${toJudge.length} rows of others may name the person and were not changed. Judge them: the receipt has their keys.`,
    )
  if (others.length > 0)
    log.warn(
      `The file has what no sync has created, and it was kept: ${others.join(', ')}. Look there yourself.`,
    )
  return Object.keys(rows).length === 0 ? notFound(tools, path) : EXIT.done
}

/** Prints statements for a warehouse that others fill. */
export async function printPersonSql(
  tools: ActionTools,
  id: string,
  dialect: PersonDialect,
): Promise<ExitCode> {
  await tools.print(personSql(id, dialect, chosenStreams(tools)))
  return EXIT.done
}

function notFound({ log }: ActionTools, path: string): ExitCode {
  log.warn(`${path} has no row of this person.`)
  return EXIT.notFound
}

function chosenStreams({ config, input }: ActionTools): ReadonlySet<string> {
  const offered = offeredStreams(config).keys()
  const names = streamNames({}, input)
  return new Set([...offered].filter((name) => names?.includes(name) ?? true))
}
