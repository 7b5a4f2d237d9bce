import { expect, it } from 'vitest'
import { howToInstall } from './database.ts'

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
  expect(howToInstall(folder, ['sync', '--config', 'my config.json'])).toBe(told)
})
