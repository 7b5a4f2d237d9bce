import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withPackage } from '../../../scripts/install-guide.ts'
import { sign } from '../../../src/webhooks/testing/sign.ts'
import { expectSame } from '../../answers.ts'
import { freePort } from '../free-port.ts'
import { output } from '../meltano/command.ts'
import { type Program, start } from './program.ts'
import { recipe } from './recipe.ts'
import { startWebhookService } from './webhook-service.ts'

const KEY = 'k3y-é/+='

export type Queue = 'postgresql' | 'redis'

/** The receiver of docs/webhooks.md, which runs with a queue of its own. */
export interface ReceiverRecipe {
  /** Sends a signed delivery; answers with its status. */
  deliver(body: string): Promise<number>
  /** Waits until it answers. */
  answering(): Promise<void>
  stop(): Promise<void>
}

/**
 * Installs what the recipe of a queue needs, the packed package for the published one, writes its files,
 * and creates its webhook.
 */
export async function layOut(folder: string, queue: Queue, packed: string): Promise<void> {
  const service = await startWebhookService(KEY)
  mkdirSync(folder)
  const files = {
    'package.json': '{"type":"module"}',
    'config.json': JSON.stringify(service.config),
    'webhooks.json': recipe('json', 'receiver'),
    'receiver.js': recipe('js', 'receiver'),
    'queue.js': recipe('js', queue),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const path = [join(folder, 'node_modules', '.bin'), process.env['PATH']].join(delimiter)
  const type = (commands: string) =>
    output({ program: 'sh', args: ['-e', '-c', commands], folder, environment: { PATH: path } })
  try {
    await type(withPackage(recipe('sh', queue), packed))
    await type(recipe('sh', 'create'))
    const paths = service.destinations.map((destination) => new URL(destination).pathname)
    expectSame(paths, [webhookPath()])
  } finally {
    service.close()
  }
}

function webhookPath(): string {
  const [path = ''] = Object.keys(JSON.parse(recipe('json', 'receiver')) as object)
  return path
}

export async function startReceiverRecipe(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<ReceiverRecipe> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}${webhookPath()}`
  const program: Program = start('node receiver.js', {
    folder,
    environment: { ...environment, PORT: String(port) },
  })
  const post = (body: string, authorization: string) =>
    fetch(url, { method: 'POST', body, headers: { authorization } })
  return {
    deliver: async (body) => (await post(body, sign(body, KEY))).status,
    async answering() {
      const statusOf = () =>
        post('', '').then(
          ({ status }) => status,
          () => 0,
        )
      for (let tries = 0; (await statusOf()) !== 401; tries++) {
        if (tries === 100) throw new Error('the receiver does not answer')
        await sleep(100)
      }
    },
    stop: () => program.kill('SIGTERM'),
  }
}
