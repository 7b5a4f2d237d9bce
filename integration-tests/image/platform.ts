import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dockerRuns, installText } from '../../scripts/guide-blocks.ts'
import { INVENTORY } from '../../src/streams/streams.ts'
import { answersOf, catalogOf, countRecords, expectSame, lastStates } from '../engines/command.ts'
import type { Tenant } from '../engines/tenant.ts'
import type { Steps } from '../steps.ts'
import { runContained, type Sandbox } from './container.ts'
import { filesOf } from './files.ts'

/** The commands of the platform, in containers. */
export async function tryPlatform(
  sandbox: Sandbox,
  tenant: Tenant,
  { step, note }: Pick<Steps, 'step' | 'note'>,
): Promise<void> {
  const { emulator, config, streams } = tenant
  const offered = [...streams, INVENTORY.stream]
  const give = (name: string, content: unknown) =>
    writeFileSync(join(sandbox.source, name), JSON.stringify(content))
  give('config.json', config)
  give('catalog.json', catalogOf(streams))
  const files = '--config /source/config.json'
  const read = `read ${files} --catalog /source/catalog.json`
  const inside = (words: string) => runContained(sandbox, [...entry(sandbox), ...words.split(' ')])
  const platform = (words: string) =>
    runContained(sandbox, ['sh', '-c', `cd /source && eval "$AIRBYTE_ENTRYPOINT ${words}"`])

  await step('spec, as the platform asks for it', async () => {
    const [message] = answersOf(await platform('spec'))
    expectSame(message?.['type'], 'SPEC')
  })
  await step('check', async () => {
    const { connectionStatus } = answersOf(await inside(`check ${files}`)).at(-1) as Status
    expectSame(connectionStatus.status, 'SUCCEEDED')
  })
  await step('discover finds every stream', async () => {
    const { catalog } = answersOf(await inside(`discover ${files}`)).at(-1) as Catalog
    expectSame(catalog.streams.map(({ name }) => name).toSorted(), offered.toSorted())
  })
  const first = await step('read brings every record of every stream', async () => {
    const messages = answersOf(await inside(read))
    for (const stream of streams)
      expectSame(
        [stream, countRecords(messages, stream)],
        [stream, (await tenant.truth(stream)).length],
      )
    return messages
  })
  await step('read from the state brings what has changed', async () => {
    give('state.json', lastStates(first ?? []))
    emulator.randomChanges({ inserts: 5, updates: 5, deletes: 5, softDeletes: 0 })
    const messages = answersOf(await inside(`${read} --state /source/state.json`))
    const [all, changed] = [first ?? [], messages].map((some) => countRecords(some))
    if (!(Number(changed) > 0 && Number(changed) < Number(all) / 2))
      throw new Error(`${changed} records, ${all} in the first read`)
  })
  await step('tap-protime brings every stream and ends with a state', async () => {
    const messages = answersOf(await runContained(sandbox, ['tap-protime', ...files.split(' ')]))
    const read = new Set(messages.flatMap(({ type, stream }) => (type === 'RECORD' ? stream : [])))
    expectSame([...read].toSorted(), offered.toSorted())
    expectSame(messages.at(-1)?.['type'], 'STATE')
  })
  await step('protime lists the work locations', async () => {
    const words = ['protime', 'work-locations', 'list', ...files.split(' ')]
    const answers = answersOf(await runContained(sandbox, words))
    expectSame(answers.length, (await tenant.truth('work_locations')).length)
  })
  for (const { entrypoint, args, output } of dockerRuns(installText('sh', 'image'))) {
    await step(`docs/install.md: ${entrypoint ?? 'source-protime'} ${args[0]}`, async () => {
      const program = entrypoint === undefined ? sandbox.config.Entrypoint : [entrypoint]
      const { exitCode, stdout, stderr } = await runContained(sandbox, [...program, ...args])
      if (exitCode !== 0) throw new Error(`ended with ${exitCode}: ${stderr}`)
      if (output !== undefined) writeFileSync(join(sandbox.source, output), stdout)
    })
  }
  await step('nothing can be written to', async () => {
    const { exitCode } = await runContained(sandbox, ['touch', '/tmp/file'])
    if (exitCode === 0) throw new Error('a file was written')
  })
  await step('read changes no file, where it might', async () => {
    const before = [...filesOf(sandbox.root)]
    answersOf(await runContained(sandbox, ['source-protime', ...read.split(' ')], WRITABLE))
    expectSame([...filesOf(sandbox.root)], before)
  })
  await step('SIGTERM ends the first process in mid-read, with 143', async () => {
    emulator.fault('/people', 'slow', { ms: 5 * KILL_MS })
    let since = 0
    const onOutput = (terminate: () => void) => {
      if (since > 0) return
      since = performance.now()
      terminate()
    }
    const { exitCode } = await runContained(sandbox, [...entry(sandbox), ...read.split(' ')], {
      onOutput,
    })
    expectSame(exitCode, 143)
    const took = Math.round(performance.now() - since)
    if (took > KILL_MS) throw new Error(`it took ${took} ms`)
    note(`after ${took} ms`)
  })
}

const WRITABLE = { isWritable: true }
/** When Docker sends SIGKILL after SIGTERM. */
const KILL_MS = 10_000

type Status = { connectionStatus: { status: string } }
type Catalog = { catalog: { streams: { name: string }[] } }

function entry({ config }: Sandbox): readonly string[] {
  return config.Entrypoint
}
