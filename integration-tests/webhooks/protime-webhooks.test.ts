import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runProtime } from '../../src/cli/main.ts'
import { type Responder, reply, startHttpService } from '../../src/http/testing/http-service.ts'
import { temporaryFolder } from '../testing/files.ts'
import { createCollector } from '../testing/output.ts'
import { parseLines } from '../testing/run.ts'

const KEY = 'a2V5IG9mIHRoZSB3ZWJob29r'
const PREFIX = '/connector/svcapi/api/v1/webhooks'
const RECORD = {
  id: 'w1',
  collectionName: 'people',
  destinationUrl: 'https://acme.test/hook',
  status: 'Enabled',
  validUntil: '2026-08-01T00:00:00Z',
}
const CREATE = ['create', '--collection', 'people', '--url', RECORD.destinationUrl]

/** A service with webhooks, and `protime webhooks` for it in a folder of its own. */
async function open(answer: Responder) {
  const asked: string[] = []
  const service = await startHttpService((request, response, index) => {
    if (request.url === '/connect/token') reply(response, 200, { access_token: 'token' })
    else {
      asked.push(`${request.method} ${decodeURIComponent(request.url).replace(PREFIX, '')}`)
      answer(request, response, index)
    }
  })
  const folder = temporaryFolder()
  onTestFinished(folder.remove)
  const environment = { type: 'custom', base_url: service.origin, auth_url: service.origin }
  const client = { client_id: 'id', client_secret: 'secret-of-the-client' }
  const config = join(folder.path, 'config.json')
  writeFileSync(config, JSON.stringify({ tenant: 'demo', environment, ...client }), { mode: 0o600 })
  const keyFile = join(folder.path, 'people.key')
  const webhooks = async (...words: readonly string[]) => {
    const [stdout, stderr] = [createCollector(), createCollector()]
    const argv = ['webhooks', ...words, '--config', config, '--debug']
    const exitCode = await runProtime(argv, { stdout, stderr })
    return { exitCode, lines: parseLines<object>(stdout.text()), stderr: stderr.text() }
  }
  return { webhooks, asked, keyFile, service }
}

describe('protime webhooks create', () => {
  it('writes the key to a new file for its owner, and prints it nowhere', async () => {
    const { webhooks, asked, keyFile, service } = await open((_, response) =>
      reply(response, 201, { ...RECORD, privateKey: KEY }),
    )
    const reference = ['--reference', 'people:@employee-number', '--reference', 'people:hr']
    const answer = await webhooks(...CREATE, '--key-file', keyFile, ...reference)
    expect([answer.exitCode, answer.lines]).toEqual([
      0,
      [{ ...RECORD, validUntil: '2026-08-01T00:00:00.000Z' }],
    ])
    expect([readFileSync(keyFile, 'utf8'), statSync(keyFile).mode & 0o777]).toEqual([KEY, 0o600])
    expect(answer.stderr).not.toContain(KEY)
    expect(asked).toEqual(['POST ?externalReferences=(people,@employee-number)(people,hr)'])
    expect(new URLSearchParams(service.requests[0]?.body).get('scope')).toBe(
      'connector-svcapi-webhooks.write connector-svcapi-people.read',
    )
  })

  it('does nothing if the key file exists', async () => {
    const { webhooks, keyFile, service } = await open(() => {})
    writeFileSync(keyFile, 'the key of another webhook')
    const { exitCode, stderr } = await webhooks(...CREATE, '--key-file', keyFile)
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/exists already.*Nothing was done/),
    ])
    expect([readFileSync(keyFile, 'utf8'), service.requests]).toEqual([
      'the key of another webhook',
      [],
    ])
  })

  it.each([
    [
      'a folder that is not there',
      ['--key-file', '/missing/folder/key'],
      2,
      /cannot be created \(ENOENT\)/,
    ],
    [
      'an address that is none',
      ['--url', 'hook', '--key-file', 'key'],
      2,
      /--url is not an address/,
    ],
    [
      'a reference that is none',
      ['--reference', 'people', '--key-file', 'key'],
      2,
      /COLLECTION:NAME/,
    ],
    ['no key file', [], 2, /required option '--key-file/],
  ])('sends nothing with %s', async (_, words, exitCode, message) => {
    const { webhooks, service } = await open(() => {})
    const answer = await webhooks(...CREATE, ...words)
    expect([answer.exitCode, answer.stderr, service.requests]).toEqual([
      exitCode,
      expect.stringMatching(message),
      [],
    ])
  })

  it('has no file while it waits for the service, because a kill would leave it empty', async () => {
    let files: string[] = []
    const { webhooks, keyFile } = await open((_, response) => {
      files = readdirSync(dirname(keyFile))
      reply(response, 201, { ...RECORD, privateKey: KEY })
    })
    expect((await webhooks(...CREATE, '--key-file', keyFile)).exitCode).toBe(0)
    expect(files).toEqual(['config.json'])
    expect(readdirSync(dirname(keyFile)).toSorted()).toEqual(['config.json', 'people.key'])
  })

  it('leaves no file behind if the service refuses', async () => {
    const { webhooks, keyFile } = await open((_, response) =>
      reply(response, 400, { error: { code: 'BadRequest', message: 'No such collection' } }),
    )
    const { exitCode, stderr } = await webhooks(...CREATE, '--key-file', keyFile)
    expect([exitCode, stderr, existsSync(keyFile)]).toEqual([
      2,
      expect.stringMatching(/BadRequest; No such collection\. \[request-not-accepted\]\n$/),
      false,
    ])
  })

  it('says what may have been left behind if the answer is lost, and sends nothing again', async () => {
    const { webhooks, asked, keyFile } = await open((_, response) => response.destroy())
    const { exitCode, stderr } = await webhooks(...CREATE, '--key-file', keyFile)
    expect([exitCode, stderr, existsSync(keyFile)]).toEqual([
      1,
      expect.stringMatching(
        /may exist, but then nobody has its key.*webhooks list --collection people/,
      ),
      false,
    ])
    expect(asked).toEqual(['POST '])
  })

  it.each([
    ['key', RECORD, 'the webhook w1 without its key'],
    ['id', {}, 'a webhook without saying which'],
  ])('says once what to do with a webhook that came without its %s', async (_, body, which) => {
    const { webhooks, keyFile } = await open((_request, response) => reply(response, 201, body))
    const { exitCode, stderr } = await webhooks(...CREATE, '--key-file', keyFile)
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(which)])
    expect(stderr.match(/delete it/g)).toHaveLength(1)
  })
})

describe('protime webhooks', () => {
  it('lists those of some collections and a status, as JSON lines', async () => {
    const { webhooks, asked } = await open((_, response) =>
      reply(response, 200, { value: [RECORD, { ...RECORD, id: 'w2' }], NextLink: null }),
    )
    const { exitCode, lines } = await webhooks('list', '--collection', 'people, access_clockings')
    expect([exitCode, lines]).toEqual([
      0,
      [expect.objectContaining({ id: 'w1' }), expect.objectContaining({ id: 'w2' })],
    ])
    await webhooks('list', '--status', 'Disabled')
    expect(asked).toEqual([
      "GET ?filter=collection-name in ('people','access-clockings')",
      "GET ?filter=status eq 'Disabled'",
    ])
  })

  it.each([
    [['--status', 'disabled'], /did you mean Disabled\?/],
    [['--collection', ''], /no webhooks of an empty name/],
  ])('lists none and ends with 2 for %j, which fits no webhook', async (words, sentence) => {
    const { webhooks, asked } = await open((_, response) => reply(response, 200, { value: [] }))
    const { exitCode, stderr } = await webhooks('list', ...words)
    expect([exitCode, stderr, asked]).toEqual([2, expect.stringMatching(sentence), []])
  })

  it.each([
    ['get', 200, 0],
    ['get', 404, 4],
    ['delete', 204, 0],
    ['delete', 404, 4],
    ['get', 400, 2],
  ])('%s answers a %d by the exit code %i', async (verb, status, exitCode) => {
    const body = status === 200 ? RECORD : ''
    const { webhooks } = await open((_, response) => reply(response, status, body))
    expect(await webhooks(verb, 'w1')).toMatchObject({
      exitCode,
      lines: status === 200 ? [expect.objectContaining({ id: 'w1' })] : [],
    })
  })
})
