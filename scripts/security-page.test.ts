import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../src/config/config.ts'

const page = readFileSync('docs/security.md', 'utf8')

/** The rows of the table between two marks, without its head; each a list of its cells. */
function table(mark: string): string[][] {
  const [, inside = ''] = page.split(`<!-- ${mark} -->`)
  const [rows = ''] = inside.split('<!-- end -->')
  const lines = rows.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
}

const quoted = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, inner = '']) => inner)

describe('docs/security.md', () => {
  it('names for each promise a test that there is', () => {
    const promises = table('promises')
    expect(promises.length).toBeGreaterThan(20)
    const missing = promises.filter(([, file, title]) => {
      const [[path = ''], [words = '']] = [quoted(file), quoted(title)]
      return !existsSync(path) || words === '' || !readFileSync(path, 'utf8').includes(words)
    })
    expect(missing).toEqual([])
  })

  it('names the hosts that a configuration leads to, for the firewall', () => {
    const told = table('egress').map(([environment, hosts]) => [
      ...quoted(environment),
      quoted(hosts),
    ])
    const asked = ['production', 'sandbox'].map((type) => {
      const client = { client_id: 'a', client_secret: 'a secret of acme' }
      const { baseUrl, authUrl } = parseConfig({ tenant: 'acme', environment: { type }, ...client })
      const hosts = [baseUrl, authUrl].map((address) => new URL(address).hostname)
      return [type, hosts.map((host) => host.replace('acme', '<tenant>'))]
    })
    expect(told.slice(0, -1)).toEqual(asked)
  })

  it('verifies a signature of the workflow that signs', () => {
    const [, workflow = ''] =
      /certificate-identity \S+\/source-protime\/(\.github\S+)@/.exec(page) ?? []
    expect(readFileSync(workflow, 'utf8')).toContain(' sign --yes ')
  })
})
