import { warningOf } from '../ground/message-ids.ts'
import { createPrivateFile } from '../ground/private-file.ts'
import { packageVersion } from '../ground/project-files.ts'
import type { PersonDialect } from '../person/conditions.ts'
import { erasePerson } from '../person/erase-person.ts'
import { idsByReference, type PersonReference } from '../person/find-by-reference.ts'
import { readPerson } from '../person/person-tables.ts'
import { personSql } from '../person/print-sql.ts'
import { personCodes } from '../privacy/person-codes.ts'
import { createSource } from '../source/source.ts'
import { openOwned } from '../warehouse/account.ts'
import type { Renew } from '../warehouse/landing.ts'
import { engineOf } from '../warehouse/landings.ts'
import { type ActionTools, EXIT, type ExitCode, UsageError } from './command.ts'
import { chosenSpecs } from './sync-action.ts'
import { openedBy, type WarehouseChoice } from './warehouse-option.ts'

export interface ExportOptions extends WarehouseChoice {
  readonly reference?: PersonReference
  /** A new file; without it, the lines go to stdout. */
  readonly output?: string
}

export interface EraseOptions extends WarehouseChoice {
  readonly publish: readonly string[]
  /** Names to search for in texts of others: rows that a sync has deleted tell none. */
  readonly name: readonly string[]
}

export interface PersonSqlOptions {
  readonly dialect: PersonDialect
  /** Statements that delete the rows, in place of those that show them. */
  readonly erase?: boolean
}

/** Prints the rows of a person, and then those of others that may name the person, one JSON line each. */
export async function exportPerson(
  tools: ActionTools,
  given: string | undefined,
  { reference, output, ...choice }: ExportOptions,
): Promise<ExitCode> {
  const { config, log, print } = tools
  const { path: warehouse, owner, patience } = openedBy(tools, choice)
  renewOf(warehouse)
  if ((given === undefined) === (reference === undefined))
    throw new UsageError('name the person by an id, or by --reference')
  const landing = await openOwned(engineOf(warehouse), warehouse, owner, patience)
  try {
    const [id = given, ...more] =
      reference === undefined ? [] : await idsByReference(landing, reference, config.privacy)
    if (more.length > 0) throw new UsageError('the reference leads to several people; name an id')
    const found = id === undefined ? undefined : await readPerson(landing, id, config.privacy)
    if (found === undefined || found.rows.length === 0) return notFound(tools, warehouse)
    const { rows, toJudge } = found
    const lines = [...rows, ...toJudge].map(
      ({ row, isClosed: _, ...place }) => `${JSON.stringify(place).slice(0, -1)},"row":${row}}`,
    )
    if (output === undefined) for (const line of lines) await print(line)
    else
      await createPrivateFile(output, `${lines.join('\n')}\n`).catch((error) => {
        throw new UsageError(`the file of --output cannot be made: ${error.message}`)
      })
    log.info(
      `${rows.length} rows are the person's; ${toJudge.length} rows of others may name the person: judge them before you pass them on.`,
    )
    return EXIT.done
  } finally {
    await landing.close()
  }
}

/** Erases a person from a warehouse, and prints the receipt. */
export async function erase(
  tools: ActionTools,
  id: string,
  { publish: copies, name: names, ...choice }: EraseOptions,
): Promise<ExitCode> {
  const { config, log, mask, signal, say } = tools
  const { path, owner, patience } = openedBy(tools, choice)
  const renew = renewOf(path)
  const { pseudonyms } = config.privacy
  const code = pseudonyms && personCodes(pseudonyms).of(id)
  // What is told of a sync is not about this command.
  const quiet = { log: { ...log, info: log.debug }, mask, signal }
  const receipt = await erasePerson(renew, {
    ...{ id, names, path, copies, owner, patience, privacy: config.privacy },
    asking: { source: createSource(), config, streams: await chosenNames(tools), tools: quiet },
    code,
    isSuppressed: code !== undefined && config.suppressedPeople.includes(code),
    version: packageVersion(),
    now: new Date(),
  })
  await say(receipt)
  const unsearched = receipt.areNamesKnown ? '' : NOT_SEARCHED
  if (receipt.result === 'to be judged' || receipt.toJudge.length + receipt.found > 0)
    log.warn(
      warningOf(
        'rows-to-judge',
        `Rows of others, or objects that no sync has created, may still have names or numbers of the person. Nothing of them was changed: look at toJudge, found and others in the receipt.${unsearched}`,
      ),
    )
  if (receipt.result !== 'nothing to erase') return EXIT.done
  return notFound(tools, `${path}, which was rewritten,`, unsearched)
}

/** Prints statements for a warehouse that others fill. */
export async function printPersonSql(
  tools: ActionTools,
  id: string,
  { dialect, erase: isErase = false }: PersonSqlOptions,
): Promise<ExitCode> {
  await tools.print(personSql(id, await chosenNames(tools), { dialect, isErase }))
  return EXIT.done
}

/** How a person is erased from a warehouse. */
function renewOf(warehouse: string): Renew {
  const { renew } = engineOf(warehouse)
  if (renew !== undefined) return renew
  throw new UsageError(
    'a person can be exported and erased only from a DuckDB file; protime person sql ID --dialect postgres prints statements for PostgreSQL',
  )
}

const NOT_SEARCHED =
  ' Texts of others were not searched: without a row in people that has the names as they are, no name is known. Run it again with --name for each name and number.'

function notFound({ log }: ActionTools, file: string, more = ''): ExitCode {
  log.warn(warningOf('person-not-found', `${file} has no row of this person.${more}`))
  return EXIT.notFound
}

async function chosenNames(tools: ActionTools): Promise<ReadonlySet<string>> {
  return new Set((await chosenSpecs({}, tools)).map(({ name }) => name))
}
