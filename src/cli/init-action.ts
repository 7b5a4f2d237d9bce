import { existsSync } from 'node:fs'
import { ConnectorError } from '../ground/errors.ts'
import { createPrivateFile } from '../ground/private-file.ts'
import { createSource } from '../source/source.ts'
import { type BareTools, EXIT, type ExitCode, UsageError } from './command.ts'
import { createQuestions, type Questions } from './questions.ts'

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
