import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { output } from './meltano/command.ts'

/** A shell of somebody who follows docs/install.md, in a folder and a Python environment of its own. */
export interface GuideShell {
  readonly folder: string
  /** Runs commands; answers with their stdout and throws what was said when one of them fails. */
  type(commands: string, environment?: Readonly<Record<string, string>>): Promise<string>
}

/**
 * Makes the folder and the environment. The scripts of `interpreters`, Python interpreters of other
 * environments, can be typed, too.
 */
export async function openGuideShell(
  folder: string,
  interpreters: readonly string[],
): Promise<GuideShell> {
  mkdirSync(folder)
  const [python = 'python3'] = interpreters
  await output({ program: python, args: ['-m', 'venv', join(folder, 'venv')], folder })
  const path = [join(folder, 'venv', 'bin'), wrappers(folder, interpreters), process.env['PATH']]
  return {
    folder,
    type: (commands, environment = {}) =>
      output({
        program: 'sh',
        args: ['-e', '-c', commands],
        folder,
        environment: { ...environment, PATH: path.join(delimiter) },
      }),
  }
}

/** Their first lines name the folders in which their environments were made, so they are started by wrappers. */
function wrappers(folder: string, interpreters: readonly string[]): string {
  const made = join(folder, 'bin')
  mkdirSync(made)
  for (const interpreter of interpreters) {
    for (const name of ['target-jsonl', 'meltano']) {
      const script = join(dirname(interpreter), name)
      if (!existsSync(script)) continue
      writeFileSync(join(made, name), `#!/bin/sh\nexec '${interpreter}' '${script}' "$@"\n`)
      chmodSync(join(made, name), 0o755)
    }
  }
  return made
}

/** Makes the npm package of the clone in `target`; answers with its path. */
export async function packNpm(projectFolder: string, target: string): Promise<string> {
  const args = ['pack', '--silent', '--pack-destination', target]
  return join(target, lastLine(await output({ program: 'npm', args, folder: projectFolder })))
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}
