import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { ConnectorError } from '../ground/errors.ts'
import { createPrivateFile } from '../ground/private-file.ts'
import { createSource } from '../source/source.ts'
import { type Asked, type BareTools, EXIT, type ExitCode, UsageError } from './command.ts'

/** Asks for a configuration, checks it and writes it to a new file. */
export async function init(tools: BareTools, file: string): Promise<ExitCode> {
  if (existsSync(file)) throw exists(file)
  const questions = createQuestions(tools)
  try {
    const settings = await askSettings(questions, tools)
    if (!(await isUsable(settings, tools))) return EXIT.failed
    await write(file, settings)
    tools.log.info(
      `${file} is written; only you may read it. Next: protime preview --config ${file}`,
    )
    return EXIT.done
  } finally {
    questions.close()
  }
}

async function askSettings({ ask, askSecret }: Questions, { mask }: BareTools): Promise<object> {
  const tenant = tenantOf(await ask('Tenant, the first part of its address'))
  const environment = await ask(
    'Environment: production, sandbox, or the address of a service',
    'production',
  )
  const isNamed = environment === 'production' || environment === 'sandbox'
  if (!isNamed && !URL.canParse(environment))
    throw new UsageError(
      `${environment} is not an environment: answer production, sandbox, or an address that begins with https://`,
    )
  const where = isNamed ? { type: environment } : await askService(ask, environment, tenant)
  const client_id = await ask('Client id')
  const client_secret = await askSecret('Client secret')
  mask.add(client_secret)
  return {
    tenant,
    environment: where,
    client_id,
    client_secret,
  }
}

/** People also enter the whole address, because they see it in their browser. */
function tenantOf(answer: string): string {
  return answer.replace(/^https?:\/\//, '').replace(/[./].*$/, '')
}

async function askService(ask: Questions['ask'], address: string, tenant: string): Promise<object> {
  const below = `${address.replace(/\/+$/, '')}/tenants/${tenant}`
  return {
    type: 'custom',
    base_url: address,
    auth_url: await ask('Address of its token service', below),
    api_name: await ask('Name of its API', 'svcapi'),
  }
}

async function isUsable(settings: object, { log, mask, signal }: BareTools): Promise<boolean> {
  const source = createSource()
  try {
    const config = source.configure(settings, log)
    const result = await source.check(config, { log, mask, signal })
    if (result.isUsable) log.info(result.message)
    else log.warn(`${result.message} Nothing was written.`)
    return result.isUsable
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    log.warn(`${error.message} Nothing was written.`)
    return false
  }
}

async function write(file: string, settings: object): Promise<void> {
  try {
    await createPrivateFile(file, `${JSON.stringify(settings, null, 2)}\n`)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw exists(file)
    throw new ConnectorError(
      'config',
      'config-not-written',
      `${file} cannot be written: ${message}.`,
    )
  }
}

function exists(file: string): UsageError {
  return new UsageError(`${file} exists already; name another file with --config`)
}

/** Asks questions one after another. */
interface Questions {
  /** Asks until there is an answer, or uses the fallback for an empty one. */
  ask(question: string, fallback?: string): Promise<string>
  /** The same, without showing what is typed. */
  askSecret(question: string): Promise<string>
  close(): void
}

/** Asks on stderr, because stdout is for results. */
function createQuestions({ stdin, stderr, signal }: Asked): Questions {
  const terminal = stdin.isTTY === true
  let isHidden = false
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!isHidden) stderr.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input: stdin, output, terminal, signal })
  const iterator = lines[Symbol.asyncIterator]()
  return {
    async ask(question, fallback) {
      for (;;) {
        stderr.write(fallback === undefined ? `${question}: ` : `${question} (${fallback}): `)
        const answer = (await next()) || fallback
        if (answer !== undefined) return answer
      }
    },
    async askSecret(question) {
      for (;;) {
        stderr.write(`${question} (not shown): `)
        isHidden = true
        const answer = await next().finally(() => {
          isHidden = false
        })
        if (answer !== '') return answer
      }
    },
    close: () => lines.close(),
  }

  async function next(): Promise<string> {
    const { value, done } = await iterator.next()
    // Only a terminal itself shows the end of an answer.
    if (!terminal || isHidden || done === true) stderr.write('\n')
    if (done === true) {
      signal.throwIfAborted()
      throw new ConnectorError(
        'config',
        'answers-ended',
        'The answers ended before the last question. Nothing was written.',
      )
    }
    return value.trim()
  }
}
