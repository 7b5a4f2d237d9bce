import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { startChild } from '../testing/child.ts'
import { temporaryFolder, writeFiles } from '../testing/files.ts'
import { run } from '../testing/run.ts'
import {
  complete,
  linesOf,
  record,
  runDestination,
  state,
  writtenCatalog,
} from '../testing/run-destination.ts'

let emulator: Emulator
let config: Record<string, unknown>
beforeEach(async () => {
  const clients = [{ id: 'writer', secret: 'b-secret', scopes: 'all' }] as const
  emulator = await startEmulator({ people: 30, months: 0, clients })
  config = emulator.config()
})
afterEach(() => emulator.close())

const STREAM = 'external_references'
const streams = [{ name: STREAM }]
const OVERWRITE = { name: STREAM, sync_mode: 'full_refresh', destination_sync_mode: 'overwrite' }
const reference = (value: string, id: unknown, more = {}) =>
  record(STREAM, { collection: 'people', name: 'hr', value, internalReference: id, ...more })
const values = (name = 'hr') =>
  emulator
    .references('people')
    .filter(({ referenceName }) => referenceName === name)
    .map(({ externalReference, internalReference }) => [externalReference, internalReference])
    .toSorted()
/** What has been asked of the service that changes it. */
const changes = () =>
  emulator.requests.filter(({ method, path }) => method !== 'GET' && !path.startsWith('/connect'))
const write = (input: readonly object[], more: object = {}, chosen: typeof streams = streams) =>
  runDestination('write', { ...config, ...more }, { streams: chosen, input })

describe('destination-protime', () => {
  it('writes references, deletes those that are marked, and counts those that it rejects', async () => {
    emulator.setReference('people', 'hr', 'gone', 3)
    const input = [
      reference('anna', '1'),
      reference('bert', 2),
      reference('gone', null, { _ab_cdc_deleted_at: '2026-01-01T00:00:00Z' }),
      reference('carl-1', '12a'),
      state(STREAM, 1),
    ]
    const { exitCode, states, logs, errors, stdout } = await write(input, { max_rejected: 1 })
    expect(values()).toEqual([
      ['anna', '1'],
      ['bert', '2'],
    ])
    const { destinationStats } = states[0] as { destinationStats?: object }
    expect(destinationStats).toEqual({ recordCount: 3, rejectedRecordCount: 1 })
    expect(logs).toContainEqual(
      expect.stringMatching(
        /^WARN external_references: record 4 was rejected: collection people, name hr: .*whole number/,
      ),
    )
    expect(stdout).not.toContain('carl')
    expect([exitCode, errors]).toEqual([0, []])
  })

  it('holds back a state that covers a record beyond max_rejected, so that it is sent again', async () => {
    const others = [{ name: STREAM }, { name: 'job_categories' }]
    const input = [
      reference('anna', 1),
      state(STREAM, 1),
      reference('bert', 99_999),
      reference('carl', 3),
      state(STREAM, 2),
      record('job_categories', { id: 1, externalCode: 'x' }),
      state('job_categories', 1),
    ]
    const first = await write(input, {}, others)
    const passed = first.states.map(({ stream }) => [
      stream.stream_descriptor.name,
      Object(stream.stream_state)['at'],
    ])
    expect(passed).toEqual([
      [STREAM, 1],
      ['job_categories', 1],
    ])
    expect([first.exitCode, first.errors]).toEqual([
      1,
      [expect.stringMatching(/^1 record was rejected, and max_rejected allows 0\./)],
    ])
    expect(first.logs).toContainEqual(
      expect.stringMatching(
        /^WARN external_references: record 2 was rejected: collection people, name hr, internalReference 99999: /,
      ),
    )
    // What a platform sends again by itself is not mended by that.
    const second = await write(input.slice(2, 5))
    expect([second.exitCode, second.states]).toEqual([1, []])
  })

  it('fails again if the platform repeats a run that has rejected more than max_rejected', async () => {
    const others = [{ name: STREAM }, { name: 'job_categories' }]
    const input = [
      reference('anna', 1),
      state(STREAM, 1),
      reference('', 1),
      state(STREAM, 2),
      record('job_categories', { id: 1, externalCode: 'x' }),
      state('job_categories', 1),
      reference('', 2),
      state(STREAM, 3),
    ]
    const first = await write(input, { max_rejected: 1 }, others)
    const at = first.states.map(({ stream }) => Object(stream.stream_state)['at'])
    expect([first.exitCode, at]).toEqual([1, [1, 1]])
    const second = await write([...input.slice(2, 4), ...input.slice(6)], { max_rejected: 1 })
    expect([second.exitCode, second.states]).toEqual([1, []])
    const allowed = await write(input.slice(0, 4), { max_rejected: 1 })
    expect([allowed.exitCode, allowed.states.length]).toEqual([0, 2])
  })

  it('says in a dry run what would be rejected, and reports nothing as written', async () => {
    const { errors } = await write([reference('anna', 1), reference('', 1)], { dry_run: true })
    expect(errors).toEqual([
      expect.stringMatching(/^1 record would be rejected, (?!.*are written)/),
    ])
  })

  it('holds back a state that covers a creation with an unknown result', async () => {
    emulator.fail('/work-locations', 503, { method: 'POST', times: 1 })
    const site = record('work_locations', { externalReferences: { erp: 'N1' }, name: 'North' })
    const chosen = [{ name: 'work_locations' }]
    const input = [site, state('work_locations', 1)]
    const first = await write(input, { max_rejected: 10 }, chosen)
    expect([first.exitCode, first.states]).toEqual([1, []])
    const second = await write(input, { max_rejected: 10 }, chosen)
    expect([second.exitCode, second.states.length]).toEqual([0, 1])
  })

  it('rejects an unclear mark of deletion, and reports unknown columns once', async () => {
    emulator.setReference('people', 'hr', 'anna', 1)
    const more = { _deleted: 'no', updated_at: '2026-01-01', colection: 'x' }
    const { exitCode, logs } = await write([reference('anna', 1, more), reference('anna', 1, more)])
    expect([exitCode, values()]).toEqual([1, [['anna', '1']]])
    expect(logs).toContainEqual(expect.stringMatching(/The _deleted is neither true nor false/))
    const { logs: told } = await write([
      reference('anna', 1, { updated_at: 'x' }),
      reference('anna', 1, { updated_at: 'x' }),
    ])
    expect(
      told.filter((line) => /No object has updated_at\. It is ignored/.test(line)),
    ).toHaveLength(1)
  })

  it('rejects a record with a repeated member', async () => {
    const twice = '"internalReference":2,"internalReference":'
    const text = [reference('anna', 1), reference('bert', 3)].map((one) => JSON.stringify(one))
    const input = Buffer.from(text.join('\n').replace('"internalReference":', twice))
    const { exitCode, logs } = await runDestination('write', config, { streams, input })
    expect([exitCode, values()]).toEqual([1, [['bert', '3']]])
    expect(logs).toContainEqual(
      expect.stringContaining('record 1 was rejected: Duplicate key internalReference: it is'),
    )
  })

  it('succeeds with no more rejections than are allowed', async () => {
    const { exitCode } = await write([reference('anna', 1), reference('', 1)], { max_rejected: 1 })
    expect([exitCode, values()]).toEqual([0, [['anna', '1']]])
  })

  it('passes on a state once the records before it are written, but not before it is killed', async () => {
    const folder = temporaryFolder()
    onTestFinished(folder.remove)
    const slow = /external-references\/people\/hr\/b$/
    const files = writeFiles(folder.path, { config, catalog: writtenCatalog(streams) })
    const start = () => {
      const child = startChild('destination-protime', ['write', ...files], {
        cwd: folder.path,
        hasInput: true,
      })
      const messages = [reference('a', 1), reference('b', 2), reference('c', 3), state(STREAM, 1)]
      child.child.stdin?.write(linesOf(messages))
      return child
    }
    emulator.fault(slow, 'hang')
    const killed = start()
    await expect.poll(() => emulator.requests.filter(({ path }) => slow.test(path)).length).toBe(1)
    await expect.poll(() => values().length).toBe(2)
    const { signal } = await killed.endsSoonAfter(() => killed.child.kill('SIGTERM'), killed.ended)
    expect(signal).toBe('SIGTERM')
    expect(killed.heard()).not.toContain('STATE')
    emulator.clearFaults()
    const finished = start()
    await finished.until(() => finished.heard().includes('"STATE"'), 'a state')
    expect(values().length).toBe(3)
    finished.child.stdin?.end()
    expect((await finished.ended).exitCode).toBe(0)
  })

  it.each<[string, () => Promise<{ exitCode: number }>]>([
    ['a check', () => runDestination('check', config)],
    ['a dry run', () => write([reference('anna', 1), state(STREAM, 1)], { dry_run: true })],
  ])('changes nothing in %s', async (_what, act) => {
    emulator.respond(/./, ({ method, path }) =>
      method === 'GET' || path.startsWith('/connect')
        ? undefined
        : { status: 500, headers: {}, body: '' },
    )
    expect((await act()).exitCode).toBe(0)
    expect(changes()).toEqual([])
  })

  it('says in a dry run what it would do, and passes on no state', async () => {
    const { logs, states } = await write([reference('anna', 1), state(STREAM, 1)], {
      dry_run: true,
    })
    expect(logs).toContain(
      'INFO external_references: collection people, name hr, internalReference 1: would be written',
    )
    expect(states).toEqual([])
  })

  it('says in a check what can be written, and which scope is missing for the rest', async () => {
    const scopes = [
      'external-references.write',
      'external-references',
      'job-categories',
      'work-locations',
    ]
    Object.assign(emulator.options, { clients: [{ id: 'writer', secret: 'b-secret', scopes }] })
    const { messages } = await runDestination('check', config)
    const { status, message } = messages[0]?.connectionStatus ?? {}
    expect(status).toBe('SUCCEEDED')
    expect(message).toMatch(
      /^external_references can be written\. job_categories: the client lacks connector-protimeapi-job-categories\.write\./,
    )
  })

  it.each<[string, object, RegExp]>([
    [
      'a wrong secret',
      { client_secret: 'wrong-secret' },
      /^Nothing can be written\. .*client secret.* \[client-not-accepted\]$/,
    ],
    ['a setting that is not valid', { max_rejected: -1 }, /max_rejected must be a number from 0/],
  ])('fails a check with %s', async (_what, more, reason) => {
    const { messages } = await runDestination('check', { ...config, ...more })
    expect(messages.at(-1)?.connectionStatus).toEqual({
      status: 'FAILED',
      message: expect.stringMatching(reason),
    })
  })

  it('names the missing scope, holds back the states of that stream, and writes the others', async () => {
    const scopes = ['external-references.write', 'external-references', 'job-categories']
    Object.assign(emulator.options, { clients: [{ id: 'writer', secret: 'b-secret', scopes }] })
    const input = [
      record('job_categories', { id: 1, externalCode: 'x' }),
      reference('anna', 1),
      state('job_categories', 1),
      state(STREAM, 1),
    ]
    const { exitCode, errors, states } = await write(input, {}, [
      ...streams,
      { name: 'job_categories' },
    ])
    expect([exitCode, errors]).toEqual([
      1,
      [expect.stringMatching(/^job_categories: .*connector-protimeapi-job-categories\.write/)],
    ])
    expect(states.map(({ stream }) => stream.stream_descriptor.name)).toEqual([STREAM])
    expect(values()).toEqual([['anna', '1']])
  })

  it.each<[string, number, readonly object[], object, number]>([
    ['deletes what a complete sync does not have', 25, [complete(STREAM)], {}, 25],
    ['deletes nothing if that were more than a fifth', 23, [complete(STREAM)], {}, 30],
    ['deletes nothing after a sync that did not end', 29, [], {}, 30],
    ['deletes nothing after changes', 29, [complete(STREAM)], { sync_mode: 'incremental' }, 30],
  ])('as a mirror %s', async (_what, sent, end, more, left) => {
    for (let id = 1; id <= 30; id++) emulator.setReference('people', 'hr', `p${id}`, id)
    const input = Array.from({ length: sent }, (_, i) => reference(`p${i + 1}`, i + 1))
    const chosen = [{ ...OVERWRITE, ...more }]
    const { exitCode } = await write([...input, ...end], { mirror: true }, chosen)
    expect([values().length, exitCode]).toEqual([left, sent < 24 ? 1 : 0])
  })

  it('as a mirror fails if the service refuses to delete what is not sent', async () => {
    emulator.setReference('people', 'hr', 'old', 1)
    emulator.fail(/external-references/, 403, { method: 'DELETE' })
    const input = [reference('anna', 2), complete(STREAM)]
    expect((await write(input, { mirror: true }, [OVERWRITE])).exitCode).toBe(1)
  })

  it('overwrites nothing without the setting mirror', async () => {
    const { exitCode, errors } = await write([reference('anna', 1)], {}, [OVERWRITE])
    expect([exitCode, errors, values()]).toEqual([
      1,
      [expect.stringContaining('overwrite cannot be used')],
      [],
    ])
  })

  it('changes nothing with records that the source has read from the same tenant', async () => {
    for (const id of [1, 2, 3]) emulator.setReference('people', 'hr', `p/${id} é`, id)
    emulator.setReference(
      'job-categories',
      'erp',
      'J1',
      emulator.all('job-categories')[0]?.['id'] as number,
    )
    const names = [STREAM, 'job_categories', 'work_locations']
    const { messages } = await run({
      program: 'source-protime',
      command: 'read',
      in: 'process',
      config,
      catalog: names,
    })
    const before = emulator.requests.length
    const { exitCode, states, logs } = await write(
      messages,
      {},
      names.map((name) => ({ name })),
    )
    expect([exitCode, states.length > 0]).toEqual([0, true])
    expect(
      emulator.requests
        .slice(before)
        .filter(({ method, path }) => method !== 'GET' && !path.startsWith('/connect')),
    ).toEqual([])
    expect(logs).toContainEqual(expect.stringMatching(/^INFO external_references: \d+ skipped$/))
  })

  it('writes nothing while another one with the same folder writes', async () => {
    const folder = temporaryFolder()
    onTestFinished(folder.remove)
    const slow = { ...config, rejected_records: join(folder.path, 'rejected.jsonl') }
    const files = writeFiles(folder.path, { config: slow, catalog: writtenCatalog(streams) })
    emulator.fault(/hr\/a$/, 'hang', { times: 1, method: 'PUT' })
    const child = startChild('destination-protime', ['write', ...files], {
      cwd: folder.path,
      hasInput: true,
    })
    child.child.stdin?.write(linesOf([reference('a', 1), state(STREAM, 1)]))
    await expect.poll(() => changes().length, { timeout: 20_000 }).toBe(1)
    const { exitCode, errors, states } = await runDestination('write', slow, {
      streams,
      input: [reference('b', 2), state(STREAM, 1)],
    })
    expect([exitCode, states, errors]).toEqual([
      1,
      [],
      [expect.stringMatching(`process ${child.child.pid} .* Nothing was written`)],
    ])
    child.child.kill('SIGKILL')
    await child.ended
    expect(values()).toEqual([])
  })

  it('writes no rejected record to a file in a dry run', async () => {
    const folder = temporaryFolder()
    onTestFinished(folder.remove)
    const file = join(folder.path, 'rejected.jsonl')
    await write([reference('anna', 'x')], { rejected_records: file, dry_run: true })
    expect(existsSync(file)).toBe(false)
  })

  it('writes rejected records to a file for its owner', async () => {
    const folder = temporaryFolder()
    onTestFinished(folder.remove)
    const file = join(folder.path, 'rejected.jsonl')
    for (const name of ['anna', 'carl'])
      await write([reference(name, 'x'), reference('bert', 1)], { rejected_records: file })
    expect(JSON.parse(`[${readFileSync(file, 'utf8').trim().replaceAll('\n', ',')}]`)).toEqual(
      ['anna', 'carl'].map((value) => ({
        object: STREAM,
        reason: expect.stringContaining('whole number'),
        record: expect.objectContaining({ value }),
      })),
    )
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['a script', '#!/bin/sh\n', 0o700, 'cannot be written (it has other content)'],
    ['a file that others may read', '', 0o644, 'cannot be written (other users may read it)'],
  ])('writes no rejected record to %s', async (_what, text, mode, reason) => {
    const { path, remove } = temporaryFolder()
    onTestFinished(remove)
    const file = join(path, 'script.sh')
    writeFileSync(file, text, { mode })
    const { errors } = await write([reference('anna', 'x')], { rejected_records: file })
    expect(errors).toEqual([expect.stringContaining(reason)])
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([text, mode])
  })
})
