import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../emulator/emulator.ts'
import { packageFolder } from '../scripts/demo/paths.ts'
import { guideBlock } from '../scripts/guide-blocks.ts'
import { STATUS } from '../src/webhooks/receive/delivery.ts'
import { temporaryFolder } from './testing/files.ts'

const PAGE = 'docs/library.md'

let folder: string
beforeEach(() => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  folder = path
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(packageFolder, join(folder, 'node_modules/source-protime'))
  write('package.json', '{"type":"module"}')
})

function write(file: string, text: string): void {
  writeFileSync(join(folder, file), text)
}

async function follow(lines: string): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)('sh', ['-e', '-c', lines], { cwd: folder })
}

it('docs/library.md shows a client that writes a reference and reads it', async () => {
  const clients = [{ id: 'connector', secret: 'emulator-secret', scopes: 'all' as const }]
  const emulator = await startEmulator({ people: 2, months: 0, clients })
  onTestFinished(() => emulator.close())
  write('config.json', JSON.stringify(emulator.config()))
  write('client.js', guideBlock('js client', PAGE))
  expect((await follow('node client.js')).stdout).toBe('E-1042 is person 1\n')
})

it('docs/library.md shows a Worker that takes events, and a test of it', async () => {
  write('worker.js', guideBlock('js worker', PAGE))
  write('worker-test.js', guideBlock('js worker-test', PAGE))
  const { stdout, stderr } = await follow('node worker-test.js')
  expect([stdout, stderr]).toEqual(['200 401 Ann\n', 'refused: 401 no-key-fits\n'])
})

it('docs/library.md names every reason for which a delivery is refused', () => {
  const page = readFileSync(PAGE, 'utf8')
  for (const [reason, status] of Object.entries(STATUS))
    expect(page).toMatch(new RegExp(`^\\| .*${status}.* \\|.*\`${reason}\``, 'm'))
})
