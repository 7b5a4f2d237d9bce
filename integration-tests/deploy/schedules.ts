import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageFolder } from '../../scripts/demo/paths.ts'
import { startService } from '../../scripts/demo/service.ts'
import { guideBlock } from '../../scripts/guide-blocks.ts'
import { execute, expectSame, output } from '../engines/command.ts'
import { verifiedDifferences } from '../testing/protime.ts'

const PAGE = join(packageFolder, 'docs', 'schedule.md')
const BIN = join(packageFolder, 'bin')
const PACKAGES = 'npx -y -p source-protime -p @duckdb/node-api '

/** What the examples of docs/schedule.md work with. */
interface Place {
  readonly folder: string
  readonly config: string
  say(line: string): void
  /** Throws where the warehouse of the folder is not what the service has, and removes it. */
  expectWarehouse(): Promise<void>
}

/** Runs the examples of docs/schedule.md for cron, systemd and GitHub Actions as they stand; throws what is wrong. */
export async function trySchedules(
  parent: string,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const service = await startService({ people: 5, months: 1, pageSize: 100 }, signal)
  const folder = join(parent, 'schedules')
  mkdirSync(folder)
  const config = JSON.stringify(await service.config())
  const file = join(folder, 'protime.duckdb')
  const expectWarehouse = async () => {
    expectSame(await verifiedDifferences(JSON.parse(config), '--warehouse', file), [])
    rmSync(file)
  }
  try {
    const place = { folder, config, say, expectWarehouse }
    await tryCron(place)
    await trySystemd(place)
    await tryGitHub(place)
  } finally {
    await service.stop()
  }
}

async function tryCron({ folder, config, say, expectWarehouse }: Place): Promise<void> {
  writeFileSync(join(folder, 'config.json'), config, { mode: 0o600 })
  const [, time, command = ''] = /^((?:\S+ ){5})(.*)\n$/.exec(guideBlock('crontab', PAGE)) ?? []
  expectSame(time, '30 2 * * * ')
  const args = ['-c', command.replace('/srv/protime', folder)]
  // cron's own environment, with the programs.
  const PATH = `${BIN}:${dirname(process.execPath)}:/usr/bin:/bin`
  execFileSync('/bin/sh', args, { cwd: '/', env: { PATH, HOME: folder } })
  await expectWarehouse()
  const locked = `exec 9> ${join(folder, 'sync.lock')}; flock 9; ${args[1]}`
  const environment = { PATH }
  const { exitCode } = await execute({ program: 'sh', args: ['-c', locked], folder, environment })
  expectSame([exitCode, existsSync(join(folder, 'protime.duckdb'))], [1, false])
  say('ok    cron runs the line of the guide, and no second sync beside it')
}

async function trySystemd({ folder, config, say, expectWarehouse }: Place): Promise<void> {
  const program = join(BIN, 'protime')
  const service = guideBlock('ini service', PAGE).replace('/usr/local/bin/protime', program)
  writeFileSync(join(folder, 'protime-sync.service'), service)
  writeFileSync(join(folder, 'protime-sync.timer'), guideBlock('ini timer', PAGE))
  const units = ['service', 'timer'].map((kind) => join(folder, `protime-sync.${kind}`))
  const args = ['verify', '--man=no', ...units]
  const { exitCode, stderr } = await execute({ program: 'systemd-analyze', args, folder })
  // What it says of other units of the machine is not of these.
  const faults = stderr.split('\n').filter((line) => line.includes('protime-sync'))
  expectSame([exitCode, faults], [0, []])
  expectSame(/^RestartPreventExitStatus=2$/m.test(service), true)
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(service) ?? []
  writeFileSync(join(folder, 'config.json'), config, { mode: 0o600 })
  const words = command.replace('/etc/protime', folder).split(' ')
  await output({ program: words[0] ?? '', args: words.slice(1), folder })
  await expectWarehouse()
  say('ok    systemd takes the units of the guide, and their command syncs')
}

async function tryGitHub({ folder, config, say, expectWarehouse }: Place): Promise<void> {
  const workflows = join(folder, '.github', 'workflows')
  mkdirSync(workflows, { recursive: true })
  const file = join(workflows, 'sync.yml')
  writeFileSync(file, guideBlock('yaml github', PAGE))
  const { scripts } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>
  }
  await output({
    program: 'sh',
    args: ['-c', `${scripts['lint:workflows']} ${file}`],
    folder: packageFolder,
  })
  const [, command = ''] = /- run: (.*)\n/.exec(guideBlock('yaml github', PAGE)) ?? []
  if (!command.includes(PACKAGES)) throw new Error(`The step installs otherwise: ${command}`)
  rmSync(join(folder, 'config.json'))
  await output({
    program: 'sh',
    args: ['-e', '-c', command.replace(PACKAGES, '')],
    folder,
    environment: { CONFIG: config, PATH: `${BIN}:${process.env['PATH']}` },
  })
  await expectWarehouse()
  say('ok    GitHub Actions takes the workflow of the guide, and its step syncs')
}
