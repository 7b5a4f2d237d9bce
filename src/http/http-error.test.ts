import { describe, expect, it } from 'vitest'
import { createMask } from '../ground/mask.ts'
import { LINK_TOKENS } from './endpoints.ts'
import { type ErrorReply, type ErrorTextOptions, toHttpError } from './http-error.ts'

const URL = 'https://acme.protime.test/connector/svcapi/api/v1/people?deltaToken=opaque'

function refusal(
  status: number,
  body: string | Buffer[],
  mask = createMask(LINK_TOKENS),
  telling: ErrorTextOptions = {},
  isPrivate = false,
) {
  const parts = typeof body === 'string' ? [Buffer.from(body)] : body
  const reply: ErrorReply = {
    status,
    body: (async function* () {
      yield* parts
    })(),
    discard: () => {},
    isPrivate: () => isPrivate,
  }
  return toHttpError(URL, reply, mask, telling)
}

describe('the message of a refusal', () => {
  it('says what happened, to which address, and what the service says', async () => {
    const { message } = await refusal(
      404,
      '{"error":{"code":"NotFound","message":"No such department"}}',
    )
    expect(message).toBe(
      'The service does not offer this to your tenant or API (404 for https://acme.protime.test/connector/svcapi/api/v1/people): NotFound; No such department.',
    )
  })

  it.each([
    [
      'with reasons',
      '{"error":{"code":"BadRequest","message":"Not valid","reasons":["End before start","Too long"]}}',
      'BadRequest; Not valid; End before start; Too long',
    ],
    [
      'of a validation',
      '{"validationErrors":[{"message":"name is needed"},"too long"]}',
      'name is needed; too long',
    ],
    ['of OAuth', '{"error":"invalid_client"}', 'invalid_client'],
    [
      'of OAuth with a description',
      '{"error":"invalid_scope","error_description":"unknown"}',
      'invalid_scope',
    ],
    [
      'that quotes a record',
      '{"error":{"code":"BadRequest","message":"Not valid: {\\"lastName\\":\\"Peeters\\"}"}}',
      'BadRequest; Not valid: …',
    ],
    [
      'with more members',
      '{"error":{"code":"Taken","message":"No","record":{"lastName":"Peeters"}},"lastName":"Peeters"}',
      'Taken; No',
    ],
    [
      'of a validation that repeats the value',
      '{"validationErrors":[{"field":"lastName","value":"Peeters","message":"too long"}]}',
      'lastName; too long',
    ],
    ['with control characters', '{"error":{"message":"a\\u0000\\u001b[31mb"}}', 'a [31mb'],
  ])('takes the words of a body %s', async (_, body, words) => {
    expect((await refusal(400, body)).message).toContain(`/people): ${words}.`)
  })

  it.each([
    ['empty', ''],
    ['of a gateway', '{"title":"x","detail":"upstream"}'],
    ['a text', '"plainly no"'],
    ['no JSON', 'Bad\r\n  gateway.'],
    ['of a validation without items', '{"validationErrors":[]}'],
    ['cut off', '{"error":{"message":"half'],
    ['a record', '{"id":1,"lastName":"Peeters","pinCode":"1234"}'],
    ['a list of records', '[{"id":1,"lastName":"Peeters"}]'],
    ['an empty object', '{ }'],
    ['an empty list', '[]'],
    ['a page for people', '<!doctype html><h1>Sorry</h1>'],
    ['too large for a message', ' '.repeat(70_000)],
  ])('does without words when the body is %s', async (_, body) => {
    expect((await refusal(400, body)).message).toMatch(/\/people\)\.$/)
  })

  it.each([204, 206, 301, 304, 418])(
    'says what to do about %s, which is no answer of the API',
    async (status) => {
      expect((await refusal(status, '')).message).toBe(
        `The service responded with an unexpected status (${status} for https://acme.protime.test/connector/svcapi/api/v1/people). Check the address and any proxies; if they are right, tell the operator of the service.`,
      )
    },
  )

  it('has no text of a host in a private network', async () => {
    const body = '{"error":{"code":"Internal","message":"a value of another service"}}'
    const error = await refusal(400, body, undefined, {}, true)
    expect(error).toMatchObject({ code: undefined, reasons: [], oauthError: undefined })
    expect(error.message).toMatch(/does not accept the request \(400 for [^ ]*\/people\)\.$/)
  })

  it('recognizes a refusal of OAuth, whoever answers', async () => {
    const error = await refusal(400, '{"error":"invalid_scope"}', undefined, {}, true)
    expect(error.oauthError).toBe('invalid_scope')
    expect(error.message).not.toContain('invalid_scope')
  })

  it('shows at most 200 characters of a body', async () => {
    expect((await refusal(400, `{"error":"${'x'.repeat(5000)}"}`)).message).toMatch(/[^x]x{200}\.$/)
  })

  it('has the status if the body breaks', async () => {
    const reply: ErrorReply = {
      status: 400,
      body: {
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('broken')) }),
      },
      discard: () => {},
      isPrivate: () => false,
    }
    expect((await toHttpError(URL, reply, createMask())).message).toMatch(/\(400 for .*people\)\.$/)
  })

  it('never shows a secret, even if it is longer than a message', async () => {
    const mask = createMask()
    const token = `eyJ${'abcdefghi'.repeat(100)}`
    mask.add(token)
    const { message } = await refusal(401, `{"error":{"message":"Invalid token ${token}"}}`, mask)
    expect(message).toMatch(/: Invalid token \*\*\*\*\.$/)
  })

  const PAGE = '{"count":1,"value":[{"id":7,"pinCode":"4711"}]}'

  it.each([
    ['a success that was not expected', 201, '{"id":7,"pinCode":"4711"}'],
    ['a part of an answer', 206, PAGE.slice(0, -5)],
    ['a page of records under a status of failure', 500, PAGE],
    ['such a page that is cut off', 418, PAGE.slice(0, -5)],
    ['a record', 409, '{"changeVersion":"0A","id":7,"pinCode":"4711"}'],
  ])('never shows records: %s', async (_, status, body) => {
    expect((await refusal(status, body)).message).not.toMatch(/pinCode|4711/)
  })

  it('never shows a token of a link', async () => {
    const { message } = await refusal(410, `{"error":{"message":"expired: /x?deltaToken=opaque"}}`)
    expect(message).not.toContain('opaque')
  })
})

describe('a refusal whose texts are hidden', () => {
  it.each([
    [
      'of the service',
      '{"error":{"code":"BadRequest","message":"Jan Peeters has no contract"}}',
      ': BadRequest',
    ],
    [
      'of OAuth',
      '{"error":"invalid_client","error_description":"Jan Peeters"}',
      ': invalid_client',
    ],
    ['without a code', '{"validationErrors":["Jan Peeters"]}', ''],
    ['whose code is a sentence', '{"error":{"code":"Jan Peeters"}}', ''],
    ['of a gateway', 'Peeters', ''],
  ])('says the code alone %s', async (_, body, code) => {
    const error = await refusal(400, body, undefined, { hidesWords: true })
    expect(error.message).toBe(
      `The service does not accept the request (400 for https://acme.protime.test/connector/svcapi/api/v1/people)${code}.`,
    )
    expect(error.reasons).toEqual([])
    expect(error.reason).not.toContain('Peeters')
  })
})
