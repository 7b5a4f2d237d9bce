import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { ConnectorError } from '../ground/errors.ts'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { createPrivateFile } from '../ground/private-file.ts'
import { checkFailure } from '../protocol/connector.ts'
import { createSource } from '../source/source.ts'
import { type Asked, type BareTools, EXIT, type ExitCode, UsageError } from './command.ts'

/**
 * Asks for a configuration until it can be used, and writes it to a new file. The answers of before are offered again,
 * except for the secret.
 */
export async function init(tools: BareTools, file: string): Promise<ExitCode> {
  if (existsSync(file)) throw exists(file)
  const questions = createQuestions(tools)
  try {
    let answers: Partial<Answers> = {}
    let settings: object
    do {
      const given = await askAnswers(questions, answers, tools)
      answers = given
      settings = settingsOf(given)
    } while (!(await isUsable(settings, tools)))
    await write(file, settings)
    tools.log.info(
      `${file} is written; only you may read it. Next: protime preview --config ${file}`,
    )
    return EXIT.done
  } finally {
    questions.close()
  }
}

interface Answers {
  readonly tenant: string
  readonly environment: string
  /** The address of the token service and the name of the API, for the address of a service. */
  readonly tokens?: string
  readonly api?: string
  readonly client: string
  readonly secret: string
}

async function askAnswers(
  { ask, askSecret }: Questions,
  before: Partial<Answers>,
  { log, mask }: BareTools,
): Promise<Answers> {
  const tenant = tenantOf(await ask('Tenant, the first part of its address', before.tenant))
  const askEnvironment = () =>
    ask(
      'Environment: production, sandbox, or the address of a service',
      before.environment ?? 'production',
    )
  let environment = await askEnvironment()
  while (!isNamed(environment) && !URL.canParse(environment)) {
    log.warn(
      warningOf(
        'environment-not-known',
        `${environment} is not an environment: enter production, sandbox, or an address that begins with https://`,
      ),
    )
    environment = await askEnvironment()
  }
  const below = `${environment.replace(/\/+$/, '')}/tenants/${tenant}`
  const service = isNamed(environment)
    ? {}
    : {
        tokens: await ask('Address of its token service', before.tokens ?? below),
        api: await ask('Name of its API', before.api ?? 'svcapi'),
      }
  const client = await ask('Client id', before.client)
  const secret = await askSecret('Client secret')
  mask.add(secret)
  return { tenant, environment, ...service, client, secret }
}

function isNamed(environment: string): boolean {
  return environment === 'production' || environment === 'sandbox'
}

/** People also enter the whole address, because they see it in their browser. */
function tenantOf(answer: string): string {
  return answer.replace(/^https?:\/\//, '').replace(/[./].*$/, '')
}

function settingsOf({ tenant, environment, tokens, api, client, secret }: Answers): object {
  const service = { type: 'custom', base_url: environment, auth_url: tokens, api_name: api }
  return {
    tenant,
    environment: isNamed(environment) ? { type: environment } : service,
    client_id: client,
    client_secret: secret,
  }
}

async function isUsable(settings: object, { log, mask, signal }: BareTools): Promise<boolean> {
  const source = createSource()
  try {
    const config = source.configure(settings, log)
    const result = await source.check(config, { log, mask, signal })
    if (result.isUsable) log.info(result.message)
    else log.warn(unwritten(checkFailure(result)))
    return result.isUsable
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error
    log.warn(unwritten(error))
    return false
  }
}

function unwritten({ id, message }: IdentifiedMessage): IdentifiedMessage {
  return { id, message: `${message} Nothing was written.` }
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
        'input-ended',
        'The input ended before the last question. Nothing was written.',
      )
    }
    return value.trim()
  }
}
