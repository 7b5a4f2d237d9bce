import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installText, type Place, withPackage } from '../../scripts/guide-blocks.ts'
import { hubFile } from '../../scripts/listings.ts'
import { type GuideShell, openGuideShell, output, packNpm } from './command.ts'
import type { Engine } from './engine.ts'
import { meltano } from './meltano/meltano.ts'
import { tapVariables } from './meltano/project.ts'
import { pyairbyte } from './pyairbyte.ts'
import { pythonWith } from './python.ts'
import { startTenant, type Tenant } from './tenant.ts'

/** Follows one part of docs/install.md and judges what came of it. */
type Attempt = (shell: GuideShell, tenant: Tenant, wheel: string) => Promise<void>

/** The commands of docs/install.md that install by pip or npm, with the packages of this clone for the published ones. */
export const install: Engine = {
  name: 'install',
  requirements: ['target-jsonl==0.1.4'],
  async run({ folder, projectFolder, wheel, step }) {
    const interpreters = [environmentOf(install), environmentOf(meltano)]
    for (const [place, attempt] of Object.entries(attempts(projectFolder))) {
      const tenant = await startTenant()
      try {
        await step(`docs/install.md holds for ${place}`, async () => {
          const shell = await openGuideShell(join(folder, place), interpreters)
          writeFileSync(join(shell.folder, 'config.json'), JSON.stringify(tenant.config), {
            mode: 0o600,
          })
          await attempt(shell, tenant, wheel)
        })
      } finally {
        await tenant.emulator.close()
      }
    }
  },
}

function attempts(projectFolder: string): Partial<Record<Place, Attempt>> {
  return {
    pip: async (shell, tenant, wheel) => {
      await shell.type(withPackage(installText('sh', 'pip'), wheel))
      await expectPeople(shell, tenant)
    },
    npm: async (shell, tenant) => {
      writeFileSync(join(shell.folder, 'package.json'), '{}')
      const packed = await packNpm(projectFolder, shell.folder)
      await shell.type(withPackage(installText('sh', 'npm'), packed))
      await expectPeople(shell, tenant)
    },
    singer: async ({ folder, type }, { streams }, wheel) => {
      await type(withPackage(installText('sh', 'singer'), wheel))
      const last = readFileSync(join(folder, 'state.jsonl'), 'utf8').trim().split('\n').at(-1)
      const { bookmarks } = JSON.parse(last ?? '') as { bookmarks: object }
      expectSame(Object.keys(bookmarks).toSorted(), [...streams, 'inventory'].toSorted())
    },
    pyairbyte: async ({ folder, type }, { streams, truth }, wheel) => {
      writeFileSync(join(folder, 'sync.py'), installText('python', 'pyairbyte'))
      const said = await type(withPackage(installText('sh', 'pyairbyte'), wheel), {
        // pip finds PyAirbyte installed here already.
        PYTHONPATH: await sitePackages(environmentOf(pyairbyte)),
        HOME: folder,
        DO_NOT_TRACK: '1',
        AIRBYTE_OFFLINE_MODE: '1',
      })
      const rows = await Promise.all(streams.map(truth))
      // The inventory has a row for each stream.
      const records = rows.flat().length + streams.length
      expectSame(said.trim().split('\n').at(-1), String(records))
    },
    meltano: async ({ folder, type }, { config, emulator }, wheel) => {
      const published = readFileSync(join(projectFolder, hubFile('tap-protime')), 'utf8')
      const definition = join(folder, 'definition.yml')
      writeFileSync(definition, published.replace(/^pip_url: .*$/m, `pip_url: file://${wheel}`))
      const commands = installText('sh', 'meltano')
      const [, url = ''] = /--from-ref (\S+)/.exec(commands) ?? []
      expectSame(url.split('/main/')[1], hubFile('tap-protime'))
      const environment = { MELTANO_SEND_ANONYMOUS_USAGE_STATS: 'false', ...tapVariables(config) }
      await type(commands.replace(url, definition), environment)
      expectSame(emulator.requests.length > 0, true)
    },
  }
}

/** Both programs have printed every person. */
async function expectPeople({ folder }: GuideShell, { truth }: Tenant): Promise<void> {
  const people = (await truth('people')).length
  for (const [file, start] of [
    ['messages.jsonl', '{"type":"RECORD","record":{"stream":"people"'],
    ['singer.jsonl', '{"type":"RECORD","stream":"people"'],
  ] as const) {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n')
    expectSame([file, lines.filter((line) => line.startsWith(start)).length], [file, people])
  }
}

/** The interpreter of an engine's environment. */
function environmentOf({ name, requirements }: Engine): string {
  return pythonWith(name, requirements)
}

/** Where the packages of an interpreter lie. */
function sitePackages(interpreter: string): Promise<string> {
  const program = 'import sysconfig; print(sysconfig.get_path("purelib"), end="")'
  return output({ program: interpreter, args: ['-c', program], folder: '/' })
}

function expectSame(actual: unknown, expected: unknown): void {
  const [given, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (given !== wanted) throw new Error(`${given} instead of ${wanted}`)
}
