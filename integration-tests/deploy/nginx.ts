import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packageFolder } from '../../scripts/demo/paths.ts'
import { sign } from '../../src/webhooks/testing/sign.ts'
import { expectSame } from '../answers.ts'
import { installDebian } from '../engines/debian.ts'
import { freePort } from '../engines/free-port.ts'
import { start } from '../engines/queues/program.ts'

const KEY = 'k3y-é/+='
const PATH = '/protime/hooks/clockings/Vb2nR7tQxYw0ZkLm3cHs'
const BODY = '{"changeVersion":"00000A1000005C200020","id":4712,"name":"Zoë €"}'
const ATTEMPTS = 100

/** A delivery through nginx as docs/webhooks.md sets it up, which ends TLS; throws what is wrong. */
export async function deliverThroughNginx(
  parent: string,
  say: (line: string) => void,
): Promise<void> {
  if (spawnSync('sh', ['-c', 'command -v nginx']).status !== 0) installDebian('nginx-light')
  const folder = join(parent, 'nginx')
  mkdirSync(folder)
  const [tls, plain] = [await freePort(), await freePort()]
  const store = [{ collection: 'clockings', destinationUrl: `https://a.example${PATH}`, key: KEY }]
  writeFileSync(join(folder, 'webhooks.json'), JSON.stringify({ version: 1, webhooks: store }))
  const client = { tenant: 'acme', client_id: 'none', client_secret: 'is used' }
  const environment = { type: 'production' }
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...client, environment }))
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, tls, plain))
  const options = { folder, environment: {} }
  const server = start(
    `${join(packageFolder, 'bin', 'protime')} webhooks serve --config config.json --store webhooks.json --keys-only --listen 127.0.0.1:${plain} --public-url https://a.example/protime --run true`,
    options,
  )
  const nginx = start(`nginx -p ${folder} -c ${folder}/nginx.conf -g 'daemon off;'`, options)
  try {
    const deliver = () => post(tls, PATH, sign(BODY, KEY)).catch(() => undefined)
    let status = await deliver()
    for (let attempt = 0; status !== 200 && attempt < ATTEMPTS; attempt++) {
      await sleep(100)
      status = await deliver()
    }
    expectSame(
      [status, await post(tls, PATH, sign(BODY, 'another')), await post(tls, '/healthz', '')],
      [200, 401, 404],
    )
    await server.kill('SIGTERM')
    const isTold = () => readFileSync(join(folder, 'error.log'), 'utf8').includes(PATH)
    expectSame([await post(tls, PATH, sign(BODY, KEY)), isTold()], [502, false])
    say('ok    nginx passes deliveries on as they came, and nothing else')
  } finally {
    await Promise.all([nginx.kill('SIGTERM'), server.kill('SIGTERM')])
  }
}

/** The configuration of the guide, with what differs on this machine. */
function configuration(folder: string, tls: number, plain: number): string {
  const guide = readFileSync(join(packageFolder, 'docs', 'webhooks.md'), 'utf8')
  const shown = /```nginx\n([\s\S]*?)```/.exec(guide)?.[1] ?? ''
  const fixtures = join(packageFolder, 'integration-tests', 'fixtures')
  const block = shown
    .replace('listen 443 ssl', `listen 127.0.0.1:${tls} ssl`)
    .replace('127.0.0.1:8080', `127.0.0.1:${plain}`)
    .replace('/etc/nginx/hooks.pem', join(fixtures, 'loopback-certificate.pem'))
    .replace('/etc/nginx/hooks.key', join(fixtures, 'loopback-key.pem'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  return `pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {} http { access_log off; ${temporary.join(' ')} ${block} }`
}

function post(port: number, path: string, authorization: string): Promise<number | undefined> {
  const ca = readFileSync(
    join(packageFolder, 'integration-tests', 'fixtures', 'loopback-certificate.pem'),
  )
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, ca, method: 'POST', headers: { authorization } },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    sent.on('error', reject).end(BODY)
  })
}
