import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { streamOf } from '../../src/client/service-client.ts'
import { startAirbyteStub } from '../../src/webhooks/triggers/testing/stubs.ts'
import { configuredCatalog } from '../testing/files.ts'
import {
  answers,
  FEW,
  noted,
  type Options,
  type Scene,
  type Server,
  startScene,
  synced,
  until,
} from './scene.ts'

/** A server whose first sync is over, so that deliveries alone lead to syncs. */
async function quiet(scene: Scene, scheduler?: Options): Promise<Server> {
  const server = await scene.serve(scheduler ?? (await scene.scheduler()))
  await until(async () => scene.orders().length === 1 && (await server.health()).lastSync !== null)
  expect(scene.differences()).toEqual([])
  return server
}

/** Ends also when the folder is removed, because its test has failed. */
const waitFor = (scene: Scene, name: string) =>
  `until test -e ${scene.file(name)} || ! test -e ${scene.folder}; do sleep 0.02; done`
const go = (scene: Scene, name = 'go') => writeFileSync(scene.file(name), '')

describe('a delivery', () => {
  it('during a sync, after its stream was read, leads to another sync', async () => {
    const scene = await startScene({}, FEW)
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const server = await scene.serve(await scene.scheduler(() => released))
    await until(() => existsSync(scene.file('sync.000000.jsonl')))
    scene.emulator.update('people', 1)
    await until(async () => (await answers(server))['200'] === 1)
    expect(scene.orders()).toHaveLength(1)
    release()
    await until(() => scene.orders().length === 2 && scene.differences().length === 0)
    expect(scene.orders()[1]).toEqual({ reason: 'delivery', streams: ['people'] })
  })

  it('that is followed by others without a pause leads to syncs nevertheless', async () => {
    const scene = await startScene({}, FEW)
    await scene.serve({ '--debounce': '20', '--max-wait': '0.3' })
    await until(() => scene.live().length === FEW.length)
    const changing = setInterval(() => scene.emulator.update('people', 1), 50)
    onTestFinished(() => clearInterval(changing))
    await until(() => scene.orders().length === 3)
  })

  it('that is lost in a kill -9 is covered by the sync at the next start', async () => {
    const scene = await startScene({}, FEW)
    const scheduler = await scene.scheduler()
    const server = await quiet(scene, scheduler)
    await server.stop()
    const patient = await scene.serveApart({ '--debounce': '60', '--max-wait': '60' })
    scene.emulator.update('people', 1)
    await until(async () => (await answers(patient))['200'] === 1)
    patient.child.kill('SIGKILL')
    await patient.exited
    expect(scene.orders()).toHaveLength(1)
    await scene.serve(scheduler)
    await until(() => scene.differences().length === 0)
    expect(scene.orders()[1]?.reason).toBe('start')
  })

  it('is covered even if the kill -9 comes during a sync, which continues', async () => {
    const scene = await startScene({}, FEW)
    const run = `${noted(scene.folder)}; flock ${scene.file('hold')} sh -c '${waitFor(scene, 'go')}; ${synced(scene.folder)}'`
    const server = await scene.serveApart({ '--run': run })
    await until(() => scene.orders().length === 1)
    server.child.kill('SIGKILL')
    await server.exited
    scene.emulator.update('people', 1)
    await scene.serve({ '--run': run })
    await until(() => scene.orders().length === 2)
    expect(existsSync(scene.file('state.json'))).toBe(false)
    go(scene)
    await until(() => existsSync(scene.file('sync.000001.jsonl')))
    await until(() => scene.differences().length === 0)
  })

  it('is retried after a failure, later each time, and the health page shows it', async () => {
    const scene = await startScene({}, FEW)
    const third = `test "$(wc -l < ${scene.file('orders')})" -ge 3`
    const run = `${noted(scene.folder)}; ${third} && ${waitFor(scene, 'go')}`
    const server = await scene.serve({ '--run': run, '--retry': '0.4' })
    await until(async () => (await server.health()).failures === 2)
    go(scene)
    await until(async () => (await server.health()).failures === 0)
    expect(scene.orders()).toHaveLength(3)
    expect(server.heard().match(/WARN Sync failed/g)).toHaveLength(2)
  })

  it('waits while a scheduled sync holds the lock that both take', async () => {
    const scene = await startScene({}, FEW)
    const done = scene.file('done')
    const run = `${noted(scene.folder)}; flock ${scene.file('lock')} sh -c 'echo >> ${done}'`
    const syncs = () => readFileSync(done, 'utf8').length
    const server = await scene.serve({ '--run': run })
    await until(async () => (await server.health()).lastSync !== null)
    const scheduled = promisify(execFile)('flock', [
      scene.file('lock'),
      'sh',
      '-c',
      `touch ${scene.file('held')}; ${waitFor(scene, 'go')}`,
    ])
    await until(() => existsSync(scene.file('held')))
    scene.emulator.update('people', 1)
    await until(() => scene.orders().length === 2)
    expect(syncs()).toBe(1)
    go(scene)
    await scheduled
    await until(() => syncs() === 2)
  })

  it('of a stream that a second pipeline also reads causes a warning, but loses no row', async () => {
    const scene = await startScene({}, FEW)
    await quiet(scene)
    scene.emulator.stealDelta('people')
    scene.emulator.update('people', 1)
    await until(() => scene.orders().length > 1 && scene.differences().length === 0)
    expect(readFileSync(scene.file('sync.000001.jsonl'), 'utf8')).toMatch(
      /WARN.*read from the beginning: people\. Probably another program reads them/,
    )
  })

  it('of a stream that is no longer read causes a sync, but is not read', async () => {
    const scene = await startScene({}, FEW)
    scene.write('catalog.json', configuredCatalog(['clockings']))
    const collections = { '--collection': 'people,clockings' }
    const server = await scene.serve({ ...(await scene.scheduler()), ...collections })
    await until(async () => (await server.health()).lastSync !== null)
    scene.emulator.update('people', 1)
    await until(() => existsSync(scene.file('sync.000001.jsonl')))
    expect(readFileSync(scene.file('sync.000001.jsonl'), 'utf8')).not.toContain('"people"')
  })

  it.each([
    ['fails its syncs where webhooks of streams that cannot be read are subscribed', [], 'failed'],
    [
      'leads to good ones once these are left out',
      ['access-clockings', 'shift-definitions'],
      'done',
    ],
  ])('of a tenant with the endpoints of the specification %s', async (_, names, result) => {
    const scene = await startScene({ dialect: 'specification' })
    const options = names.length === 0 ? {} : { '--collection': names.join(',') }
    if (names.length > 0) scene.write('catalog.json', configuredCatalog(names.map(streamOf)))
    const server = await scene.serve({ ...(await scene.scheduler()), ...options })
    await until(() => server.heard().includes(`Sync ${result}`))
    expect(scene.live()).toHaveLength(names.length || 18)
  })

  it('after days without a sync, when the delta links are dead, makes the warehouse equal, too', async () => {
    const scene = await startScene({}, FEW)
    const scheduler = await scene.scheduler()
    const server = await quiet(scene, scheduler)
    await server.stop()
    scene.emulator.remove('people', 2)
    scene.emulator.update('absences', 1)
    await scene.emulator.elapse({ hours: 73 })
    await scene.serve(scheduler)
    await until(() => scene.differences().length === 0)
  })
})

describe('--airbyte-connection', () => {
  const start = async () => {
    const scene = await startScene({}, FEW)
    const airbyte = await startAirbyteStub()
    onTestFinished(airbyte.close)
    const environment = {
      AIRBYTE_URL: airbyte.url,
      AIRBYTE_CLIENT_ID: 'app',
      AIRBYTE_CLIENT_SECRET: 'app secret',
    }
    const options = { '--run': undefined, '--airbyte-connection': 'live', '--poll': '0.05' }
    const serve = () => scene.serve(options, environment)
    return { scene, airbyte, environment, options, serve }
  }

  it('asks again while Airbyte runs another sync, and starts its own after that', async () => {
    const { airbyte, serve } = await start()
    airbyte.jobs.set(1, 'running')
    const server = await serve()
    await until(() => server.heard().includes('Airbyte already runs a sync of this connection'))
    airbyte.jobs.set(1, 'succeeded')
    await until(() => airbyte.jobs.size === 2)
    airbyte.jobs.set(2, 'succeeded')
    await until(async () => (await server.health()).lastSync !== null)
    expect((await server.health()).failures).toBe(0)
  })

  it('is refused at the start with credentials that Airbyte does not know', async () => {
    const { scene, options, environment } = await start()
    const wrong = { ...environment, AIRBYTE_CLIENT_SECRET: 'another secret' }
    await expect(scene.serve(options, wrong)).rejects.toThrow('the server ended with 2')
    expect(scene.emulator.requests).toEqual([])
  })

  it('accepts deliveries while Airbyte is down, and syncs once when it is back', async () => {
    const { scene, airbyte, serve } = await start()
    airbyte.outage = 503
    const server = await serve()
    await until(async () => (await server.health()).failures > 0)
    scene.emulator.update('people', 1)
    await until(async () => (await answers(server))['200'] === 1)
    airbyte.outage = undefined
    await until(() => airbyte.jobs.size === 1)
    airbyte.jobs.set(1, 'succeeded')
    await until(async () => (await server.health()).failures === 0)
    expect(airbyte.jobs.size).toBe(1)
  })
})

describe('SIGTERM', () => {
  it('ends the running command, and then the server with exit code 0', async () => {
    const scene = await startScene({}, FEW)
    const ended = scene.file('ended')
    const run = `trap 'touch ${ended}; exit 1' TERM; ${noted(scene.folder)}; while :; do sleep 0.02; done`
    const server = await scene.serveApart({ '--run': run })
    await until(() => scene.orders().length === 1)
    await server.endsSoonAfter(() => server.child.kill('SIGTERM'), server.exited)
    expect([await server.exited, existsSync(ended)]).toEqual([0, true])
    expect(scene.live()).toHaveLength(FEW.length)
  })
})

it('SIGTERM ends processes that a finished command has left behind, before the server ends', async () => {
  const scene = await startScene({}, FEW)
  const ended = scene.file('ended')
  const job = `trap "sleep 0.3; touch ${ended}; exit" TERM; while :; do sleep 0.02; done`
  const server = await scene.serveApart({
    '--run': `sh -c '${job}' & sleep 0.2; ${noted(scene.folder)}`,
  })
  await until(() => server.heard().includes('Sync done'))
  await server.endsSoonAfter(() => server.child.kill('SIGTERM'), server.exited)
  expect([await server.exited, existsSync(ended)]).toEqual([0, true])
})

describe('--once', () => {
  it.each([
    ['true', 0],
    ['false', 1],
  ])('ends after one sync, and tells by the exit code how it went (%s)', async (run, exitCode) => {
    const scene = await startScene({}, FEW)
    const options = { '--run': run, '--once': true, '--collection': 'people' } as const
    expect((await scene.protime(...scene.words(options))).exitCode).toBe(exitCode)
  })
})
