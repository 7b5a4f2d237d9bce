import type { ServerResponse } from 'node:http'
import { parseConfig } from '../../config/config.ts'
import { createMask } from '../../ground/mask.ts'
import { type ReceivedRequest, reply, startHttpService } from '../../http/testing/http-service.ts'
import { shortRetryPolicy } from '../../http/testing/virtual-time.ts'
import type { CheckResult, Log } from '../../protocol/connector.ts'
import { availableStreams } from '../../streams/streams.ts'
import { type CheckSettings, checkService } from '../check.ts'

const PREFIX = '/connector/svcapi/api/v1'

/** How many streams there are where no activity structure is configured. */
export const COUNT = availableStreams({ activityStructures: [] }).size

/** Answers one request. */
export type Respond = (response: ServerResponse, request: ReceivedRequest) => void

/** A service, and settings of the check of it. */
export interface CheckScenario {
  /** Answers of the API by path below the prefix; a page without rows where none is given. */
  readonly api?: Readonly<Record<string, Respond>>
  /** Answers of the API whatever the path. */
  readonly all?: Respond
  readonly token?: Respond
  readonly scope?: string
  /** Settings on top of the necessary ones. */
  readonly settings?: object
  readonly check?: Partial<CheckSettings>
}

export const page: Respond = (response) => reply(response, 200, { value: [] })
/** Answers with this status and body. */
export const status =
  (code: number, words: string | object = ''): Respond =>
  (response) =>
    reply(response, code, words)

/** A service that answers as the scenario says, and the outcome of a check of it. */
export async function check(
  scenario: CheckScenario = {},
): Promise<CheckResult & { asked: string[] }> {
  const { api = {}, all, scope, settings } = scenario
  const grant: Respond = (response) => reply(response, 200, { access_token: 'token', scope })
  const { origin, requests } = await startHttpService((request, response) => {
    const { pathname } = new URL(request.url, 'http://x')
    if (pathname.endsWith('/connect/token')) return (scenario.token ?? grant)(response, request)
    return (all ?? api[pathname.slice(PREFIX.length)] ?? page)(response, request)
  })
  const result = await checkAt(origin, settings, scenario.check)
  const asked = requests
    .filter(({ url }) => url.startsWith(PREFIX))
    .map(({ url }) => url.slice(PREFIX.length))
  return { ...result, asked }
}

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {} }

/** The outcome of a check of what is at an address. */
export function checkAt(origin: string, more: object = {}, settings: Partial<CheckSettings> = {}) {
  const config = parseConfig({
    tenant: 'demo',
    environment: { type: 'custom', base_url: origin, auth_url: `${origin}/tenants/demo` },
    client_id: 'id',
    client_secret: 'a-secret',
    ...more,
  })
  return checkService([...availableStreams(config).values()], {
    config,
    mask: createMask(),
    signal: new AbortController().signal,
    log: SILENT,
    retryPolicy: shortRetryPolicy(),
    ...settings,
  })
}
