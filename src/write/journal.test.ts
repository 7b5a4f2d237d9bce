import { existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  at: 1,
}
const newFolder = () => mkdtempSync(join(tmpdir(), 'protime-'))
const open = (folder: string | undefined, baseUrl = 'https://acme.example') =>
  openObject(folder, baseUrl, 'external_references')

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

  it('belongs to one tenant', async () => {
    const folder = newFolder()
    const first = await open(folder)
    await first.journal.add(MOVE)
    const other = await open(folder, 'https://other.example')
    expect(other.journal.entries).toEqual([])
    await first.release()
    await other.release()
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

  it.each(['', '{"version":2,"entries":[]}', '{"version":1}', 'null'])(
    'that is damaged (%j) stops the run, which leaves no lock',
    async (text) => {
      const folder = newFolder()
      const { journal, release } = await open(folder)
      await release()
      writeFileSync(journal.path ?? '', text)
      await expect(open(folder)).rejects.toThrow(/The journal .* is damaged/)
      expect(existsSync(journal.path ?? '')).toBe(true)
      expect(readdirSync(folder)).toHaveLength(1)
    },
  )
})
