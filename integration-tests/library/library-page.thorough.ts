import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../emulator/emulator.ts'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import { packageFolder } from '../../src/ground/project-files.ts'
import { STATUS } from '../../src/webhooks/receive/delivery.ts'
import { temporaryFolder } from '../testing/files.ts'

const PAGE = 'docs/library.md'

let folder: string
beforeEach(() => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  folder = path
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(packageFolder(), join(folder, 'node_modules/source-protime'))
  write('package.json', '{"type":"module"}')
})

function write(file: string, text: string): void {
  writeFileSync(join(folder, file), text)
}

const run = (file: string) => promisify(execFile)(process.execPath, [file], { cwd: folder })

describe('docs/library.md', () => {
  it('shows a client that writes a reference and reads it', async () => {
    const clients = [{ id: 'connector', secret: 'emulator-secret', scopes: 'all' as const }]
    const emulator = await startEmulator({ people: 2, months: 0, clients })
    onTestFinished(() => emulator.close())
    write('config.json', JSON.stringify(emulator.config()))
    write('client.js', guideBlock('js client', PAGE))
    expect((await run('client.js')).stdout).toBe('E-1042 is person 1\n')
  })

  it('shows a Worker that receives events, and a test of it', async () => {
    write('worker.js', guideBlock('js worker', PAGE))
    write('worker-test.js', guideBlock('js worker-test', PAGE))
    const { stdout, stderr } = await run('worker-test.js')
    expect([stdout, stderr]).toEqual(['200 401 Ann\n', 'refused: 401 no-key-fits\n'])
  })

  it('names every reason for which a delivery is refused', () => {
    const page = readFileSync(PAGE, 'utf8')
    for (const [reason, status] of Object.entries(STATUS))
      expect(page).toMatch(new RegExp(`^\\| .*${status}.* \\|.*\`${reason}\``, 'm'))
  })
})
