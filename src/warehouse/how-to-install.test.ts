import { expect, it } from 'vitest'
import { howToInstall } from './how-to-install.ts'

it.each([
  ['/project/node_modules/source-protime', 'Run: npm install @duckdb/node-api'],
  [
    '/cache/_npx/1a2b3c/node_modules/source-protime',
    "Run: npx -p source-protime -p @duckdb/node-api protime sync --config 'my config.json'",
  ],
  [
    '/usr/lib/python3/site-packages/source_protime/connector',
    "Run: pip install 'source-protime[duckdb]'",
  ],
  ['/airbyte/integration_code', 'Use the image source-protime/protime-sync, which has it.'],
])('a person is told how to get DuckDB for a program in %s', (folder, told) => {
  expect(howToInstall('duckdb', folder, ['sync', '--config', 'my config.json'])).toBe(told)
})

it('all packages of an engine are named', () => {
  expect(howToInstall('postgres', '/project/node_modules/source-protime', [])).toBe(
    'Run: npm install pg pg-copy-streams',
  )
  expect(
    howToInstall('postgres', '/cache/_npx/1a2b3c/node_modules/source-protime', ['status']),
  ).toBe('Run: npx -p source-protime -p pg -p pg-copy-streams protime status')
})
