import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { parseServeWords } from '../../src/cli/serve-action.ts'
import { type ServeWords, serveOptions } from '../../src/cli/serve-options.ts'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

interface Manifest {
  readonly kind: string
  readonly spec: {
    readonly replicas: number
    readonly strategy: { readonly type: string }
    readonly template: { readonly spec: { readonly containers: readonly [Container] } }
    readonly rules: readonly [
      {
        readonly host: string
        readonly http: { readonly paths: readonly [{ readonly path: string }] }
      },
    ]
  }
}

interface Container {
  readonly image: string
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly ports: readonly [{ readonly containerPort: number }]
}

const manifests = parseAllDocuments(read('webhooks.yaml')).map((one) => one.toJS() as Manifest)
const manifest = (kind: string) => {
  const found = manifests.find((one) => one.kind === kind)
  if (found === undefined) throw new Error(`there is no ${kind}`)
  return found.spec
}

describe('webhooks.yaml', () => {
  const deployment = manifest('Deployment')
  const [container] = deployment.template.spec.containers
  const environment = Object.fromEntries(
    container.env.map(({ name, value = 'of the secret' }) => [name, value]),
  )
  const command = new Command()
  for (const option of serveOptions()) command.addOption(option)
  command.option('--config <file>')
  command.parse([...container.args], { from: 'user' })
  const settings = parseServeWords(command.opts<ServeWords>(), environment)

  it('starts a server with options that it takes, where the Service and the Ingress look for it', () => {
    expect(container.command).toEqual(['protime', 'webhooks', 'serve'])
    expect([settings.host, settings.port]).toEqual(['0.0.0.0', container.ports[0].containerPort])
    const [{ host, http }] = manifest('Ingress').rules
    expect(`https://${host}${http.paths[0].path}`).toBe(`${settings.publicUrl}/hooks`)
  })

  it('never has two servers with one store', () => {
    expect([deployment.replicas, deployment.strategy.type]).toEqual([1, 'Recreate'])
  })

  it('runs the image of this version', () => {
    const { version } = JSON.parse(read('../../package.json')) as { version: string }
    expect(container.image).toBe(`source-protime/source-protime:${version}`)
  })
})
