import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const PROJECT = dirname(createRequire(import.meta.url).resolve('#package'))

/** How the connector is run in a benchmark. */
export interface Reading {
  readonly origin: string
  readonly streams: readonly string[]
  readonly concurrency?: number
  readonly state?: readonly object[]
}

/** Calls `use` with the words that run the connector's `read`; its files live as long. */
export async function withConnector<T>(
  { origin, streams, concurrency = 4, state }: Reading,
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
  })
  const catalog = file('catalog.json', {
    streams: streams.map((name) => ({
      stream: { name, json_schema: {}, supported_sync_modes: ['incremental'] },
      sync_mode: 'incremental',
      destination_sync_mode: 'append_dedup',
    })),
  })
  const words = [
    join(PROJECT, 'bin/source-protime'),
    'read',
    '--config',
    config,
    '--catalog',
    catalog,
  ]
  try {
    return await use(state === undefined ? words : [...words, '--state', file('state.json', state)])
  } finally {
    rmSync(folder, { recursive: true })
  }
}
