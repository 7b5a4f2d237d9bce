import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The folder of the project. */
export const PROJECT = dirname(createRequire(import.meta.url).resolve('#package'))

/** How the connector is run in a benchmark. */
export interface Reading {
  readonly origin: string
  readonly streams: readonly string[]
  readonly concurrency?: number
  /** See the setting `retry_minutes`. */
  readonly retryMinutes?: number
  /** More settings of the configuration. */
  readonly settings?: object
  /** Which program is run: that for the Airbyte protocol, that for Singer, or `protime sync` with a warehouse. */
  readonly protocol?: 'airbyte' | 'singer' | 'warehouse'
  /** The command of the Airbyte protocol, by default `read`, or of `protime`, by default `sync`. */
  readonly command?: 'check' | 'read' | 'sync' | 'verify'
}

/** Calls `use` with the command line that reads these streams. The files that it names are removed afterwards. */
export async function withConnector<T>(
  {
    origin,
    streams,
    concurrency = 4,
    retryMinutes = 10,
    settings,
    protocol = 'airbyte',
    command = protocol === 'warehouse' ? 'sync' : 'read',
  }: Reading,
  use: (program: string[]) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const file = (name: string, content: unknown) => {
    const path = join(folder, name)
    writeFileSync(path, JSON.stringify(content))
    return path
  }
  const config = file('config.json', {
    tenant: 'bench',
    environment: { type: 'custom', base_url: origin, auth_url: `${origin}/tenants/bench` },
    client_id: 'bench',
    client_secret: 'bench-secret',
    concurrency,
    retry_minutes: retryMinutes,
    ...settings,
  })
  const catalog = file('catalog.json', {
    streams: streams.map(protocol === 'singer' ? selected : configured),
  })
  const programs = {
    airbyte: [join(PROJECT, 'bin/source-protime'), command],
    singer: [join(PROJECT, 'bin/tap-protime')],
    warehouse: [join(PROJECT, 'bin/protime'), command, '--streams', streams.join(',')],
  }
  try {
    const takesCatalog = protocol !== 'warehouse' && command === 'read'
    const reads = takesCatalog ? ['--catalog', catalog] : []
    return await use([...programs[protocol], '--config', config, ...reads])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A stream of Airbyte's configured catalog. */
function configured(name: string): object {
  return {
    stream: { name, json_schema: {}, supported_sync_modes: ['incremental'] },
    sync_mode: 'incremental',
    destination_sync_mode: 'append_dedup',
  }
}

/** A stream of Singer's catalog. */
function selected(name: string): object {
  return {
    tap_stream_id: name,
    stream: name,
    schema: {},
    metadata: [{ breadcrumb: [], metadata: { selected: true } }],
  }
}

/** The bytes of one of our RECORD lines for such a record. */
export const LINE_BYTES = 406

/** The ids of all records have eight digits, so that another one fits in its place. */
export const idOf = (index: number): number => 10_000_000 + index

/** A record as text, another one for each index: 236 bytes, like a clocking with one reference. */
export function clocking(index: number): string {
  const person = 1 + ((index * 7919) % 5000)
  const minute = (index * 13) % 1440
  return JSON.stringify({
    changeVersion: (0xa00000 + index).toString(16).toUpperCase().padStart(16, '0'),
    id: idOf(index),
    person: { id: person, externalReferences: { '@employee-number': `E${person}` } },
    date: `2026-03-${String(1 + (index % 28)).padStart(2, '0')}`,
    timeOfDayInMinutes: minute,
    kind: 'InOut',
    isGenerated: false,
    calculatedTimeOfDayInMinutes: minute - (minute % 5),
  })
}
