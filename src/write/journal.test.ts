import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type Move, openObject, type PendingCreation } from './journal.ts'

const MOVE: Move = {
  kind: 'move',
  collection: 'people',
  name: 'hr',
  old: [['A', '1']],
  wanted: [['A', '2']],
}
const CREATION: PendingCreation = {
  kind: 'creation',
  reference: 'erp',
  value: 'N1',
  name: 'North',
}
const newFolder = () => mkdtempSync(join(tmpdir(), 'protime-'))
const ACME = { tenant: 'acme', baseUrl: 'https://acme.example' }
const open = (folder: string | undefined, owner = ACME) =>
  openObject(folder && join(folder, 'config.json'), owner, 'external_references')

describe('the journal of an object', () => {
  it('survives its process, in a file that only its owner can read', async () => {
    const folder = newFolder()
    const first = await open(folder)
    await Promise.all([first.journal.add(MOVE), first.journal.add(CREATION)])
    await first.release()
    expect(statSync(first.journal.path ?? '').mode & 0o777).toBe(0o600)
    const second = await open(folder)
    expect(second.journal.entries).toEqual([MOVE, CREATION])
    for (const entry of second.journal.entries) await second.journal.remove(entry)
    await second.release()
    expect(readdirSync(folder)).toEqual([])
  })

  it.each([
    { ...ACME, tenant: 'other' },
    { ...ACME, baseUrl: 'https://other.example' },
  ])('belongs to one tenant, and is not that of $tenant at $baseUrl', async (owner) => {
    const folder = newFolder()
    const first = await open(folder)
    await first.journal.add(MOVE)
    const other = await open(folder, owner)
    expect(other.journal.entries).toEqual([])
    await first.release()
    await other.release()
  })

  it('is the same for all links to the configuration', async () => {
    const [folder, other] = [newFolder(), newFolder()]
    writeFileSync(join(folder, 'config.json'), '{}')
    symlinkSync(join(folder, 'config.json'), join(other, 'config.json'))
    const { release } = await open(folder)
    await expect(open(other)).rejects.toThrow(/^Another process uses the lock/)
    await release()
  })

  it('is the same for a tenant in another case', async () => {
    const folder = newFolder()
    const { release } = await open(folder)
    await expect(open(folder, { ...ACME, tenant: 'Acme' })).rejects.toThrow(/^Another process/)
    await release()
  })

  it('is not read behind a link', async () => {
    const folder = newFolder()
    const { journal, release } = await open(folder)
    await release()
    writeFileSync(join(folder, 'other'), JSON.stringify({ version: 1, entries: [MOVE] }))
    symlinkSync(join(folder, 'other'), journal.path ?? '')
    await expect(open(folder)).rejects.toThrow('is a symbolic link')
  })

  it.each([undefined, '/nowhere/at/all'])(
    'ends with the process in the folder %s',
    async (folder) => {
      const { journal, release } = await open(folder)
      await journal.add(MOVE)
      expect([journal.path, journal.entries]).toEqual([undefined, [MOVE]])
      await release()
    },
  )

  it.each([
    '',
    '{"version":2,"entries":[]}',
    '{"version":1}',
    'null',
    JSON.stringify({ version: 1, entries: [null] }),
    JSON.stringify({ version: 1, entries: [{ kind: 'other' }] }),
    JSON.stringify({ version: 1, entries: [{ ...MOVE, old: ['A'] }] }),
    JSON.stringify({ version: 1, entries: [{ ...MOVE, wanted: undefined }] }),
    JSON.stringify({ version: 1, entries: [{ ...MOVE, name: 7 }] }),
    JSON.stringify({ version: 1, entries: [{ ...CREATION, name: 5 }] }),
  ])('that is damaged (%j) stops the run, which leaves no lock', async (text) => {
    const folder = newFolder()
    const { journal, release } = await open(folder)
    await release()
    writeFileSync(journal.path ?? '', text)
    await expect(open(folder)).rejects.toThrow(/The journal .* is damaged/)
    expect(existsSync(journal.path ?? '')).toBe(true)
    expect(readdirSync(folder)).toHaveLength(1)
  })
})

it('the lock of an object is not left out because the system has no room for it at the moment', () => {
  const module = fileURLToPath(new URL('../../dist/src/write/journal.js', import.meta.url))
  const path = JSON.stringify(join(newFolder(), 'config.json'))
  const program = `
    import { closeSync, openSync } from 'node:fs'
    import { openObject } from ${JSON.stringify(module)}
    const files = []
    try { for (;;) files.push(openSync('/dev/null')) } catch {}
    closeSync(files.pop())
    await openObject(${path}, ${JSON.stringify(ACME)}, 'external_references').then(
      () => console.log('opened'),
      ({ failure, message }) => console.log(failure, message),
    )`
  const words = ['-c', 'ulimit -n 60; exec "$0" --input-type=module --eval "$1"']
  const said = execFileSync('sh', [...words, process.execPath, program], { encoding: 'utf8' })
  expect(said).toMatch(
    /^transient .* cannot be locked \(EMFILE\)\. Try again when there is room\.\n$/,
  )
})
