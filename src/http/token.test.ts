import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../ground/errors.ts'
import { createMask } from '../ground/mask.ts'
import { HttpError } from './http-error.ts'
import { acmeEndpoints as endpoints, failureOf } from './testing/open-client.ts'
import { createTokens, hasScope, type Token } from './token.ts'

const SECRET = 'top/s3cret+value'
type Answer = (form: URLSearchParams, index: number) => string

/** Tokens of an endpoint whose answers come from a function, with a clock that the test moves. */
function tokensOver(answer: Answer, scopes?: readonly string[]) {
  const forms: URLSearchParams[] = []
  const time = { ms: 0 }
  const mask = createMask()
  const tokens = createTokens(
    { endpoints, clientId: 'my id', clientSecret: SECRET, scopes, mask },
    async ({ body }, read) =>
      read(answer(new URLSearchParams(body), forms.push(new URLSearchParams(body)) - 1)),
    () => time.ms,
  )
  return { tokens, forms, time, mask }
}

function granted(value: string, more: object = { expires_in: 1800, token_type: 'Bearer' }): string {
  return JSON.stringify({ access_token: value, ...more })
}

const counted: Answer = (_, index) => granted(`token-${index + 1}`)

describe('a token', () => {
  // spec: Endpoints: POST {auth_url}/connect/token
  // spec: Token endpoint: form
  // spec: Authentication 1
  it('is requested with the credentials, the grant and the scopes', async () => {
    const { tokens, forms } = tokensOver(counted, ['people.read', 'job-categories.write'])
    await tokens.get()
    expect(forms.map((form) => Object.fromEntries(form))).toEqual([
      {
        grant_type: 'client_credentials',
        client_id: 'my id',
        client_secret: SECRET,
        scope: 'connector-svcapi-people.read connector-svcapi-job-categories.write',
      },
    ])
  })

  // spec: Token endpoint: form
  // spec: Authentication 6
  it('is requested without a scope if none are named', async () => {
    const { tokens, forms } = tokensOver(counted)
    await tokens.get()
    expect(forms[0]?.has('scope')).toBe(false)
  })

  // spec: Authentication 4
  // spec: Limits: token lifetime
  it('is reused until shortly before it expires', async () => {
    const { tokens, time } = tokensOver(counted)
    const values: string[] = []
    for (const seconds of [0, 1739, 1741]) {
      time.ms = seconds * 1000
      values.push((await tokens.get()).value)
    }
    expect(values).toEqual(['token-1', 'token-1', 'token-2'])
  })

  // spec: Limits: token lifetime
  it('is reused for most of its lifetime if that is short', async () => {
    const { tokens, time } = tokensOver((_, index) => granted(`t-${index}`, { expires_in: 10 }))
    const values: string[] = []
    for (const seconds of [0, 8.9, 9.1]) {
      time.ms = seconds * 1000
      values.push((await tokens.get()).value)
    }
    expect(values).toEqual(['t-0', 't-0', 't-1'])
  })

  // spec: Limits: token lifetime
  it.each([undefined, null, 0, -1, 'soon', {}])(
    'whose expires_in is %j is used until it is refused',
    async (expires_in) => {
      const { tokens, time, forms } = tokensOver((_, i) => granted(`t-${i}`, { expires_in }))
      await tokens.get()
      time.ms = 10 ** 9
      await tokens.get()
      expect(forms).toHaveLength(1)
    },
  )

  it('may state its lifetime as text', async () => {
    const { tokens, time, forms } = tokensOver((_, i) => granted(`t-${i}`, { expires_in: '100' }))
    await tokens.get()
    time.ms = 95_000
    await tokens.get()
    expect(forms).toHaveLength(2)
  })

  // spec: Authentication 4
  it('is shared by concurrent callers', async () => {
    const { tokens, forms } = tokensOver(counted)
    await Promise.all([tokens.get(), tokens.get(), tokens.get()])
    expect(forms).toHaveLength(1)
  })

  it('is requested again after a failure', async () => {
    const { tokens } = tokensOver((_, index) => {
      if (index === 0) throw new ConnectorError('transient', 'x-test', 'broken')
      return granted('second')
    })
    await failureOf(tokens.get())
    expect((await tokens.get()).value).toBe('second')
  })

  it('is masked in every text from then on', async () => {
    const { tokens, mask } = tokensOver(() => granted('eyJ.the.token'))
    await tokens.get()
    expect(mask.text('Bearer eyJ.the.token')).toBe('Bearer ****')
  })
})

describe('a refused token', () => {
  // spec: Authentication 5
  it('is renewed once for all that were refused with it', async () => {
    const { tokens, forms } = tokensOver(counted)
    const old = await tokens.get()
    const renewed = await Promise.all([tokens.renew(old), tokens.renew(old)])
    renewed.push(await tokens.renew(old))
    expect([renewed.map(({ value }) => value), forms.length]).toEqual([
      ['token-2', 'token-2', 'token-2'],
      2,
    ])
  })

  it('is widened to every scope the client has', async () => {
    const { tokens, forms } = tokensOver(counted, ['people.read'])
    const wide = await tokens.renew(await tokens.get(), true)
    expect([wide.isNarrow, forms[1]?.has('scope')]).toEqual([false, false])
  })

  it('is widened even while another caller requests a narrow one', async () => {
    const { tokens } = tokensOver(counted, ['people.read'])
    const old = await tokens.get()
    const [narrow, wide] = await Promise.all([tokens.renew(old), tokens.renew(old, true)])
    expect([narrow.isNarrow, wide.isNarrow]).toEqual([true, false])
  })
})

describe('a token request that is refused', () => {
  const scopeRefusal = new HttpError('config', 400, 'not accepted (400 for x).', {
    oauthError: 'invalid_scope',
  })

  // spec: Authentication 7
  // spec: Errors: 400 token endpoint, invalid_scope
  it('for a scope falls back to every scope that the client has', async () => {
    const { tokens, forms } = tokensOver(
      (form) => {
        if (form.has('scope')) throw scopeRefusal
        return granted('wide', { scope: 'connector-svcapi-people.read  connector-svcapi-a.read' })
      },
      ['people', 'absences'],
    )
    const token = await tokens.get()
    expect({ ...token, forms: forms.length }).toEqual({
      value: 'wide',
      isNarrow: false,
      scopes: new Set(['connector-svcapi-people.read', 'connector-svcapi-a.read']),
      forms: 2,
    })
  })

  it('for a scope is not repeated with scopes', async () => {
    const { tokens, forms } = tokensOver(
      (form, index) => {
        if (form.has('scope')) throw scopeRefusal
        return granted(`t-${index}`)
      },
      ['people'],
    )
    await tokens.renew(await tokens.get())
    expect(forms.map((form) => form.has('scope'))).toEqual([true, false, false])
  })

  // spec: Errors: 400 token endpoint, invalid_client
  it.each([
    [400, 'invalid_client'],
    [400, 'unauthorized_client'],
    [401, undefined],
  ])('for its credentials (%d, %s) says what to check', async (status, oauthError) => {
    const { tokens } = tokensOver(() => {
      throw new HttpError('config', status, 'refused', { oauthError })
    })
    expect(await failureOf(tokens.get())).toMatchObject({
      failure: 'config',
      message: expect.stringMatching(/client id and client secret.*Check both, the tenant/),
    })
  })

  it('for its credentials after a refused scope is reported, too', async () => {
    const { tokens } = tokensOver(
      (form) => {
        if (form.has('scope')) throw scopeRefusal
        throw new HttpError('config', 400, 'no', { oauthError: 'invalid_client' })
      },
      ['people'],
    )
    expect((await failureOf(tokens.get())).message).toMatch(/client id and client secret/)
  })

  it('at an address without a token service says what to check', async () => {
    const { tokens } = tokensOver(() => {
      throw new HttpError('config', 404, 'not offered (404 for x).')
    })
    expect((await failureOf(tokens.get())).message).toMatch(
      /no token service at https:\S+\/tenants\/acme\/connect\/token\. Check the tenant.*auth_url is/,
    )
  })

  it.each([400, 401, 404, 410, 500])(
    'is never taken for a refusal of the link that needed the token (%d)',
    async (status) => {
      const { tokens } = tokensOver(() => {
        throw new HttpError('config', status, 'refused')
      })
      expect(await failureOf(tokens.get())).not.toBeInstanceOf(HttpError)
    },
  )
})

describe('an answer without a usable token', () => {
  // spec: Token endpoint: answer
  it.each([
    '{}',
    '{"access_token":""}',
    '{"access_token":5}',
    '{"access_token":"two words"}',
    '{"access_token":"line\\nbreak"}',
    '{"access_token":"é"}',
  ])('(%s) is a failure that names the address', async (text) => {
    const { tokens } = tokensOver(() => text)
    expect(await failureOf(tokens.get())).toMatchObject({
      failure: 'system',
      message: expect.stringMatching(/without a usable access token.*authentication address/),
    })
  })

  it.each(['', '<html>', 'null', '[]', '"token"'])(
    '(%s) that is not of the endpoint may pass',
    async (text) => {
      const { tokens } = tokensOver(() => text)
      expect(await failureOf(tokens.get())).toMatchObject({
        failure: 'transient',
        message: expect.stringMatching(/not a JSON object.*authentication address/),
      })
    },
  )

  it('is not shown, because it may contain a token', async () => {
    const { tokens } = tokensOver(() => `{"access_token":"${SECRET} x"}`)
    expect((await failureOf(tokens.get())).message).not.toContain(SECRET)
  })

  it('is one of another type', async () => {
    const { tokens } = tokensOver(() => granted('t', { token_type: 'MAC' }))
    expect((await failureOf(tokens.get())).message).toMatch(/not a bearer token/)
  })

  it.each(['bearer', 'BEARER', undefined])('is not one of the type %j', async (token_type) => {
    const { tokens } = tokensOver(() => granted('t', { token_type }))
    expect((await tokens.get()).value).toBe('t')
  })
})

describe('what a token covers', () => {
  const token = (...scopes: string[]): Token => ({
    value: 't',
    scopes: new Set(scopes),
    isNarrow: false,
  })

  // spec: Token endpoint: answer
  // spec: Authentication 6
  it.each([
    ['the scope', token('connector-svcapi-people.read'), true],
    ['one of the scopes', token('connector-svcapi-histories.read'), true],
    ['the general scope', token('connector-svcapi-all.read'), true],
    ['another scope', token('connector-svcapi-jobs.read'), false],
    [
      'the right to write only',
      token('connector-svcapi-people.write', 'connector-svcapi-all.write'),
      false,
    ],
    ['nothing', token(), false],
    ['what is not known', { value: 't', scopes: undefined, isNarrow: true }, true],
  ])('with %s', (_, held, expected) => {
    expect(hasScope(held, endpoints, ['people.read', 'histories.read'])).toBe(expected)
  })
})
