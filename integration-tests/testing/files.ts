import { lchownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { isTemporary } from '../../src/ground/private-file.ts'

/** A stream of a configured catalog: its name, which is read incrementally, or with a mode. */
export type Chosen =
  | string
  | {
      readonly name: string
      readonly sync_mode: string
      /** The columns that are chosen; all of them if left out. */
      readonly columns?: readonly string[] | undefined
      /** The generation that the destination is to have alone; none if left out. */
      readonly generation?: number | undefined
    }

/** What a program is run with: objects are written to files, texts as they are. */
export interface Files {
  readonly config?: unknown
  /** The streams of a configured catalog, or any other content of the file. */
  readonly catalog?: readonly Chosen[] | object | string | undefined
  readonly state?: unknown
}

/** A configured catalog as platforms write it. */
export function configuredCatalog(chosen: readonly Chosen[]): { readonly streams: object[] } {
  return {
    streams: chosen.map((entry) => ({
      stream: {
        name: nameOf(entry),
        json_schema: schemaOf(entry),
        supported_sync_modes: ['full_refresh', 'incremental'],
      },
      sync_mode: typeof entry === 'string' ? 'incremental' : entry.sync_mode,
      destination_sync_mode: 'append_dedup',
      ...generationOf(entry),
    })),
  }
}

function generationOf(chosen: Chosen): object {
  if (typeof chosen === 'string' || chosen.generation === undefined) return {}
  return { generation_id: chosen.generation, minimum_generation_id: chosen.generation }
}

function schemaOf(chosen: Chosen): object {
  if (typeof chosen === 'string' || chosen.columns === undefined) return {}
  return { properties: Object.fromEntries(chosen.columns.map((name) => [name, {}])) }
}

/** The names of the streams that are chosen. */
export function namesOf(catalog: Files['catalog']): string[] {
  if (Array.isArray(catalog)) return (catalog as readonly Chosen[]).map(nameOf)
  const { streams } = (catalog ?? {}) as { readonly streams?: readonly ConfiguredStream[] }
  return (streams ?? []).flatMap(({ stream }) => stream?.name ?? [])
}

/** A stream of a catalog that a test wrote as it liked. */
interface ConfiguredStream {
  readonly stream?: { readonly name?: string }
}

function nameOf(chosen: Chosen): string {
  return typeof chosen === 'string' ? chosen : chosen.name
}

/** Writes the files into a folder and answers with the options that name them. */
export function writeFiles(folder: string, { config, catalog, state }: Files): string[] {
  const chosen = Array.isArray(catalog) ? configuredCatalog(catalog) : catalog
  return Object.entries({ config, catalog: chosen, state }).flatMap(([name, content]) => {
    if (content === undefined) return []
    const path = join(folder, `${name}.json`)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return [`--${name}`, path]
  })
}

/** An empty folder of the machine, and what takes it away. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'protime-'))
  // A process that was told to end may still write its last file.
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 10 })
  return { path, remove }
}

/** The temporary files and folders of processes beside a path. */
export function temporariesBeside(path: string): string[] {
  const names = readdirSync(dirname(path)).filter((name) => isTemporary(name, basename(path)))
  return names.map((name) => join(dirname(path), name))
}

/**
 * Makes a file or link one of another user: root gives it away, anybody else is somebody else for a while. Returns what
 * ends that.
 */
export function ofAnotherUser(path: string): () => void {
  const { geteuid } = process
  if (geteuid?.() === 0) {
    lchownSync(path, 65534, 65534)
    return () => {}
  }
  process.geteuid = () => 65534
  return () => {
    process.geteuid = geteuid as () => number
  }
}
