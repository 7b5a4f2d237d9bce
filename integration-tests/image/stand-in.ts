import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** What the Dockerfile, a platform and the tries call. */
const TOOLS =
  'sh env cat cp mkdir rm ln chmod ls id test touch mv sleep find wc dirname basename readlink sed uname'

/**
 * Writes the context of an image that stands in for the official one of Node, from this machine's own
 * files: its node and npm, a shell, coreutils, and the libraries they need.
 */
export function writeStandIn(context: string): void {
  const root = join(context, 'root')
  const put = (from: string, to: string) => {
    if (existsSync(join(root, to))) return
    mkdirSync(dirname(join(root, to)), { recursive: true })
    cpSync(realpathSync(from), join(root, to))
  }
  for (const tool of ['node', ...TOOLS.split(' ')]) {
    const program = tool === 'node' ? process.execPath : whereIs(tool)
    for (const library of librariesOf(program)) put(library, library)
    put(program, `/usr/bin/${tool}`)
  }
  if (!existsSync(join(root, 'bin'))) symlinkSync('usr/bin', join(root, 'bin'))
  const npm = dirname(dirname(realpathSync(whereIs('npm'))))
  const modules = join(root, 'usr/local/lib/node_modules')
  cpSync(npm, join(modules, 'npm'), { recursive: true, dereference: true })
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
  for (const folder of ['etc', 'tmp', 'root', 'proc', 'dev']) mkdirSync(join(root, folder))
  chmodSync(join(root, 'tmp'), 0o1777)
  const users = 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/tmp:/bin/sh\n'
  writeFileSync(join(root, 'etc/passwd'), users)
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n')
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  writeFileSync(
    join(context, 'Dockerfile'),
    `FROM scratch\nCOPY root/ /\nENV PATH=${path}\nCMD ["node"]\n`,
  )
}

/** A program's own file; the shell answers with a bare name for what is built into it. */
function whereIs(tool: string): string {
  const found = execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim()
  return found.startsWith('/') ? found : `/usr/bin/${tool}`
}

function librariesOf(program: string): string[] {
  const { stdout } = spawnSync('ldd', [realpathSync(program)], { encoding: 'utf8' })
  return [...stdout.matchAll(/(\/[^ ]+) \(0x/g)].flatMap(([, path]) => path ?? [])
}
