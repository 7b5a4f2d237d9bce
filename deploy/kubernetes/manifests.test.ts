import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { installText } from '../../scripts/guide-blocks.ts'
import { EXIT } from '../../src/cli/command.ts'
import { serveOptions } from '../../src/cli/resource-commands.ts'
import { parseServeWords, type ServeWords } from '../../src/cli/serve-action.ts'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

interface Container {
  readonly image: string
  readonly args: readonly string[]
}

interface CronJob {
  readonly kind: string
  readonly spec: {
    readonly concurrencyPolicy: string
    readonly jobTemplate: {
      readonly spec: {
        readonly podFailurePolicy: { readonly rules: readonly unknown[] }
        readonly template: {
          readonly spec: { readonly restartPolicy: string; readonly containers: Container[] }
        }
      }
    }
  }
}

function cronJob(file: string): CronJob {
  const documents = parseAllDocuments(read(file)).map((document) => document.toJS() as CronJob)
  const found = documents.find(({ kind }) => kind === 'CronJob')
  if (found === undefined) throw new Error(`${file} has no CronJob`)
  return found
}

describe('tenant.yaml', () => {
  it('does not retry failures that only a person can solve', () => {
    const [rule] = cronJob('tenant.yaml').spec.jobTemplate.spec.podFailurePolicy.rules
    expect(rule).toEqual({
      action: 'FailJob',
      onExitCodes: { containerName: 'sync', operator: 'In', values: [EXIT.usage] },
    })
  })

  it('never has two runs of one tenant', () => {
    const { spec } = cronJob('tenant.yaml')
    expect(spec.concurrencyPolicy).toBe('Forbid')
    expect(spec.jobTemplate.spec.template.spec.restartPolicy).toBe('Never')
  })

  it('runs the image of this version', () => {
    const { version } = JSON.parse(read('../../package.json')) as { version: string }
    const [container] = cronJob('tenant.yaml').spec.jobTemplate.spec.template.spec.containers
    expect(container?.image).toBe(`source-protime/protime-sync:${version}`)
  })
})

describe('all-tenants.sh', () => {
  const CONFIGS = { acme: '{"tenant":"acme"}', 'umbrella-2': '{"tenant":"umbrella"}' }
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tenants-'))
    for (const [name, config] of Object.entries(CONFIGS))
      writeFileSync(join(folder, `${name}.json`), config)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  interface Printed {
    readonly kind: string
    readonly metadata: { readonly name: string }
    readonly data: { readonly 'config.json': string }
    readonly spec: CronJob['spec'] & { readonly schedule: string }
  }

  function printed(): Printed[] {
    const script = new URL('all-tenants.sh', import.meta.url).pathname
    const text = execFileSync('sh', [script, folder], { encoding: 'utf8', stdio: 'pipe' })
    return parseAllDocuments(text).map((one) => one.toJS() as Printed)
  }

  it('prints a Secret, a volume and a CronJob per tenant', () => {
    const manifests = printed()
    expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
      Object.keys(CONFIGS).flatMap((name) =>
        ['Secret', 'PersistentVolumeClaim', 'CronJob'].map((kind) => `${kind} protime-${name}`),
      ),
    )
    const secrets = manifests.filter(({ kind }) => kind === 'Secret')
    expect(
      secrets.map(({ data }) => Buffer.from(data['config.json'], 'base64').toString()),
    ).toEqual(Object.values(CONFIGS))
  })

  it('gives no pod the secret or the warehouse of another tenant, and starts them apart', () => {
    const jobs = printed().filter(({ kind }) => kind === 'CronJob')
    const others = jobs.map(({ metadata, spec }) => {
      const text = JSON.stringify(spec)
      return Object.keys(CONFIGS).filter(
        (name) => metadata.name !== `protime-${name}` && text.includes(name),
      )
    })
    expect(others).toEqual([[], []])
    expect(new Set(jobs.map(({ spec }) => spec.schedule)).size).toBe(2)
  })

  it('refuses a name that Kubernetes does not accept', () => {
    writeFileSync(join(folder, 'Not a name.json'), '{}')
    expect(printed).toThrow('lower-case letters')
  })
})

describe('network-policy.yaml', () => {
  interface Rule {
    readonly to: readonly {
      readonly ipBlock?: { readonly cidr: string; readonly except?: string[] }
    }[]
    readonly ports: readonly { readonly port: number }[]
  }
  interface Policy {
    readonly spec: {
      readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> }
      readonly policyTypes: readonly string[]
      readonly egress: readonly Rule[]
    }
  }
  const documents = (file: string) => parseAllDocuments(read(file)).map((one) => one.toJS())
  const policies: Policy[] = documents('./network-policy.yaml')

  it('is for the pods of every manifest', () => {
    const pods = ['tenant.yaml', 'webhooks.yaml'].flatMap((file) =>
      documents(`./${file}`).flatMap(
        ({ spec }) => (spec?.jobTemplate?.spec ?? spec)?.template ?? [],
      ),
    )
    expect(pods).toHaveLength(2)
    for (const { metadata } of pods) {
      const selected = policies.filter(({ spec }) =>
        Object.entries(spec.podSelector.matchLabels).every(([k, v]) => metadata.labels[k] === v),
      )
      expect(selected.map(({ spec }) => spec.policyTypes)).toEqual([['Ingress', 'Egress']])
    }
  })

  it.each(['8.8.8.8', '2606:4700::1111'])('lets them reach %s only on port 443', (address) => {
    for (const { spec } of policies) expect(portsTo(address, spec.egress)).toEqual([443])
  })

  it.each(['10.0.0.1', '169.254.169.254', '172.20.0.1', '192.168.1.1', '100.64.0.1', 'fd00::1'])(
    'lets them not reach %s',
    (address) => {
      for (const { spec } of policies) expect(portsTo(address, spec.egress)).toEqual([])
    },
  )

  function portsTo(address: string, rules: readonly Rule[]): number[] {
    return rules.flatMap(({ to, ports }) => {
      const isReached = to.some(
        ({ ipBlock }) =>
          ipBlock !== undefined &&
          isIn(address, [ipBlock.cidr]) &&
          !isIn(address, ipBlock.except ?? []),
      )
      return isReached ? ports.map(({ port }) => port) : []
    })
  }

  function isIn(address: string, networks: readonly string[]): boolean {
    const list = new BlockList()
    const family = (text: string) => (text.includes(':') ? 'ipv6' : 'ipv4')
    for (const network of networks.filter((one) => family(one) === family(address))) {
      const [start = '', bits] = network.split('/')
      list.addSubnet(start, Number(bits), family(start))
    }
    return list.check(address, family(address))
  }
})

describe('docs/install.md', () => {
  it('applies the manifest of one tenant', () => {
    const [, file] = /^kubectl apply --filename deploy\/kubernetes\/(\S+)$/m.exec(
      installText('sh', 'kubernetes'),
    ) ?? ['', '']
    expect(cronJob(`./${file}`).kind).toBe('CronJob')
  })
})

describe('webhooks.yaml', () => {
  interface Manifest {
    readonly kind: string
    readonly spec: {
      readonly replicas: number
      readonly strategy: { readonly type: string }
      readonly template: { readonly spec: { readonly containers: readonly [Server] } }
      readonly rules: readonly [
        {
          readonly host: string
          readonly http: { readonly paths: readonly [{ readonly path: string }] }
        },
      ]
    }
  }

  interface Server {
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

  it('starts a server with valid options, where the Service and the Ingress expect it', () => {
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
