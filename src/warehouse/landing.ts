import type { ConnectorError } from '../ground/errors.ts'
import type { Log } from '../protocol/connector.ts'
import type { Column, ColumnType } from './column.ts'

/** Where the rows of one tenant land. One folder per engine; shared code never asks which one it is. */
export interface Landing {
  readonly sql: Dialect
  /** The rows of a query; all values as texts. */
  query(sql: string): Promise<(string | null)[][]>
  /** An expression for each row of a table, which is called `source`: a text in UTF-8. At most some thousand come at a time. */
  texts(table: string, text: string): AsyncIterable<readonly Buffer[]>
  /** The rows of a query of the user, each as the JSON text of an object; a config error has the engine's words. */
  jsonRows(sql: string): Promise<string[]>
  /** Runs statements, separated by semicolons; or one statement with values for `$1`, `$2` and so on. */
  run(sql: string, values?: readonly string[]): Promise<void>
  /** What exists: others may have changed it since the last sync. */
  present(): Promise<PresentTables>
  /** The views of these streams, also those that this transaction has made, */
  views(streams: readonly string[]): Promise<ViewDigests>
  /** and the tables of the account. */
  ownTables(): Promise<OwnTables>
  /** Does work in one transaction, which is rolled back if the work fails. */
  atomically<T>(work: () => Promise<T>): Promise<T>
  /** After a complete read of a table: makes the rows of a key quick to find, if the engine needs that. */
  indexKey(stream: string, key: readonly Column[]): Promise<void>
  /** Prepares for statements on rows of this length in bytes; nothing to do for most engines. */
  makeRoom(longest: number): Promise<void>
  /** Whether columns of a stream's table can be dropped. */
  canDropColumns(stream: string): Promise<boolean>
  /** Creates or replaces a scratch table from a query. It lasts until the end of the transaction. Returns its SQL name. */
  scratch(name: string, query: string): Promise<string>
  /**
   * Reads files of rows into a scratch table: the number of each row (`HELPER.row`), its operation (`HELPER.op`), and
   * these columns, of which files may lack some. Returns its SQL name.
   */
  stage(name: string, files: readonly RowFile[], columns: readonly Column[]): Promise<string>
  /** Adds the rows of files to a table; `constants` are its other columns with the expressions for all rows. */
  append(
    table: string,
    files: readonly RowFile[],
    columns: readonly Column[],
    constants: ReadonlyMap<string, string>,
  ): Promise<void>
  /** Creates or replaces a view with its comments. Returns false if it stays as it is because objects of others depend on that. */
  replaceView(view: FlatView): Promise<boolean>
  /** What an error of a statement means; without values. */
  failureOf(error: unknown): LandingFailure
  /** Publishes a copy of what is committed; write nothing afterwards, even if it fails. */
  publish(copy: string): Promise<void>
  close(): Promise<void>
}

/** Why nothing was written. */
export interface LandingFailure {
  readonly error: ConnectorError
  /** Whether the commit of any stream would fail, rather than that of one. */
  readonly isOfAll: boolean
}

/** A file of rows that have the same columns, and are of the same generation. */
export interface RowFile {
  readonly path: string
  readonly generation: number
  readonly columns: readonly Column[]
  readonly count: number
  /** The length of its longest row, in bytes. */
  readonly longest: number
  /** See `Encoded` in `row-encoder.ts`. */
  readonly imitatesRows: boolean
}

/** The visible tables and views, by names as the engine distinguishes them. */
export interface PresentTables {
  /** The columns of the table of this name among those of the streams, in lower case, and their types in capitals; undefined if there is none. */
  columnsOf(name: string): ReadonlyMap<string, string> | undefined
  /** The object that prevents a table or view of this name in a schema, by its SQL name. */
  inTheWayOf(schema: string, name: string): string | undefined
}

/** Whether there is a table of this name in the schema of the account. */
export type OwnTables = (name: string) => boolean

/** A digest of the view of this name in a schema, as the engine shows it; empty if there is none. */
export type ViewDigests = (schema: string, name: string) => string

/** A view of a stream with nested objects as columns. */
export interface FlatView {
  readonly schema: string
  readonly name: string
  readonly columns: readonly string[]
  /** The query that it shows. */
  readonly query: string
  /** The statements that comment on it and its columns, and perhaps on the table. */
  readonly comments: readonly string[]
}

/** The words of an engine's SQL: pure functions. */
export interface Dialect {
  /** The names of the schemas. */
  readonly schemas: {
    /** Of the streams' tables, */
    readonly tables: string
    /** of their views, */
    readonly flat: string
    /** of the views of what they were before, too, */
    readonly history: string
    /** and of the account, with what waits and what was before. */
    readonly account: string
  }
  readonly limits: Limits
  /** The kind of table for rows that can be read again. */
  readonly waiting: 'TABLE' | 'UNLOGGED TABLE'
  /** Whether a row that differs is updated, as foreign keys and triggers of others expect; else it is inserted anew. */
  readonly updates: boolean
  /** Where a row of this alias is, which no column of anybody can have as its name; undefined if the engine has no such word. */
  readonly rowAt: ((alias: string) => string) | undefined
  /** The type of a column. */
  type(type: ColumnType): string
  /** Whether the engine can store a JSON value that fits this type: from `start` to `end`, quotes included. */
  storable(type: ColumnType, bytes: Buffer, start: number, end: number): boolean
  /** A text as an expression. */
  literal(text: string): string
  /** A value as another type of this engine, or null. */
  retyped(value: string, type: string): string
  /** An expression of a column's value that can be compared by IS DISTINCT FROM. */
  same(value: string, type: ColumnType): string
  /** The exact text of a column's value, as the service would write it. */
  textOf(value: string, type: ColumnType): string
  /** A moment as ISO text in UTC with microseconds. */
  momentText(value: string): string
  /** A JSON value that the type of its column cannot store as one of which every engine reads the members: NULs in it are U+FFFD. */
  readable(value: string): string
  /** The value at a JSON pointer of a JSON value, as JSON, */
  jsonAt(value: string, pointer: string): string
  /** as text, without the quotes of a text, */
  textAt(value: string, pointer: string): string
  /** and of a number with all of its digits. */
  numberAt(value: string, pointer: string): string
  /**
   * The value of a text as this type if it has the form, a regular expression for the whole text, and if the type can
   * store it; else null. `written` is a number as the service wrote it, if `text` may have been rounded.
   */
  tryCast(text: string, type: ColumnType, form: string, written: string): string
  /**
   * The query for the different members of the objects at a JSON pointer of a JSON column in alphabetical order, at most
   * `limit`. `rows` are its rows under the name `added`: what follows FROM, with a WHERE.
   */
  members(column: string, pointer: string, rows: string, limit: number): string
}

/** What an engine's tables and names can be. */
export interface Limits {
  /** The columns of one stream's table. */
  readonly columns: number
  /** A name as the engine can have it, cut so that it fits with the suffix. */
  nameOf(wanted: string, suffix: string): string
  /** Names in lower case that no column can have. */
  readonly reserved: readonly string[]
}

/** An engine: how its landings are found, opened and replaced. `address` is what the user gives by --warehouse. */
export interface Engine {
  accepts(address: string): boolean
  /** Opens a landing only to read it; throws a config error if there is none. */
  read(address: string, patience: Patience): Promise<Landing>
  /** Opens a landing to write it, or creates it. */
  open(address: string, settings: OpenSettings): Promise<Landing>
  /**
   * Prepares a landing that is filled from the beginning and then takes the place of this one, so that no byte of the
   * old one is left. If an earlier attempt has filled one for the same owner, it continues. Throws a config error for a
   * landing of another owner, and if the new one would lack what the rules protect.
   */
  rewrite(
    address: string,
    owner: Owner,
    patience: Patience,
    rules: ReplacementRules,
  ): Promise<Replacement>
  /** Where a landing is filled that is to take the place of this one; undefined if the engine rewrites in place. */
  readonly rewriteOf?: (address: string) => string
  /** Opens a landing that is to be written anew without some of its rows; undefined if the engine cannot do that. */
  readonly renew: Renew | undefined
  /** Throws a config error if the landing cannot be copied to this path. */
  assertPublishable(address: string, copy: string, owner: Owner, patience: Patience): Promise<void>
  /** How dbt reads a landing, for a project in this folder. */
  dbtTarget(address: string, project: string): DbtTarget
  /** The path beside which each sync of this landing makes a folder for its files of rows. */
  folderOf(address: string): string
}

/** What a dbt project has to know of a landing. */
export interface DbtTarget {
  /** The file of the landing, if it is one. */
  readonly file: string | undefined
  /** Where dbt finds the tables. */
  readonly database: string
  readonly schema: string
  /** The lines of the output in `profiles.yml`. */
  readonly output: readonly string[]
}

export interface OpenSettings {
  /** A folder for data that does not fit into memory. Files of rows are only read from it. */
  readonly folder: string
  readonly patience: Patience
  /** Throws if the landing is of another owner; called before anything is written, also for the form before. */
  readonly inspect: (landing: Landing) => Promise<void>
  /** Where a copy is published afterwards; undefined if none is. */
  readonly publish?: string | undefined
  /** The statements that make the tenant the owner of a new landing. */
  readonly claim: (sql: Dialect) => readonly string[]
  readonly log: Log
}

/** Tries to open a landing until nobody else has it open, or the time is over. */
export type Patience = <T>(open: () => Promise<T>) => Promise<T>

/** The owner of a landing: a tenant, and the environment that distinguishes tenants of one name. */
export interface Owner {
  readonly tenant: string
  readonly environment: string
  /** A fingerprint of the settings that leave data out: equal for settings with the same effect. */
  readonly redaction: string
}

/** A landing that will take the place of another one. */
export interface Replacement {
  /** Where it is filled. */
  readonly address: string
  /** How long the other one keeps closed versions; undefined if it keeps none. */
  readonly history: string | undefined
  /** The states of the streams in the other one, unless this one has them. */
  readonly states: ReadonlyMap<string, unknown>
  /** What there is if not everything can be read. */
  readonly meanwhile: string
  /** A transient error if a process has the other one open. */
  takePlace(): Promise<void>
}

/** What a new landing may lack. */
export interface ReplacementRules {
  /** Streams that it must have if the old one has them. */
  readonly kept: readonly string[]
  /** Whether it may lack objects that no sync has created. */
  readonly dropsOthers: boolean
  /** Whether it may lack the history of the old one. */
  readonly forgetsHistory: boolean
}

/** Does work with a landing of this owner that no other process has open. */
export type Renew = <T>(
  settings: RenewSettings,
  work: (landing: RenewableLanding) => Promise<T>,
) => Promise<T>

export interface RenewSettings {
  readonly path: string
  readonly owner: Owner
  readonly patience: Patience
  /** Copies of earlier syncs, which are replaced, too. */
  readonly copies: readonly string[]
}

/** A landing that no other process has open. */
export interface RenewableLanding {
  readonly landing: Landing
  /** What no sync has created in it: kind and name of each. */
  readonly others: readonly string[]
  /**
   * Writes everything else into a new one, and puts that in the place of the copies and of this one. However it ends, there is
   * the old one or the new one. Afterwards this one can no longer be read.
   */
  renew(renewal: Renewal): Promise<void>
}

/** What the new landing has otherwise than the old one. */
export interface Renewal {
  /** The rows that it does not get, by the SQL names of tables: a condition of the rows of `source`. */
  readonly omissions: ReadonlyMap<string, string>
  /** The new states of streams; a stream without one gets none, and is read from the beginning. */
  readonly states: ReadonlyMap<string, unknown>
  /** Statements that are executed in the new one before it is complete. */
  readonly statements: readonly string[]
}
