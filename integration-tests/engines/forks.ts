import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Ended, LIMIT_MS } from './command.ts'

/** A program of Python. */
export interface PythonCommand {
  /** Its path, and its arguments. */
  readonly args: readonly string[]
  readonly folder: string
  /** Variables beside this process's own. */
  readonly environment?: Readonly<Record<string, string>>
}

/** What the processes of programs are forked from. */
export interface Forks {
  /** Runs a program to its end, after those that were given before it. */
  execute(command: PythonCommand): Promise<Ended>
  close(): void
}

/** What Python starts with. */
export interface Imports {
  readonly interpreter: string
  readonly modules: readonly string[]
  /** forks.py. */
  readonly program: string
  /** An empty folder. */
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
}

/** Python with modules that take seconds to import, which it does at the first program: each runs in a process of its own, without that. */
export function openForks(imports: Imports): Forks {
  let parent: Parent | undefined
  return {
    async execute({ args, folder, environment }) {
      parent ??= startParent(imports)
      const outputs = mkdtempSync(join(imports.folder, 'fork-'))
      const [stdout, stderr] = [join(outputs, 'stdout'), join(outputs, 'stderr')]
      try {
        const exitCode = await parent.ask({
          args,
          folder,
          environment: { ...process.env, ...environment },
          stdout,
          stderr,
          seconds: LIMIT_MS / 1000,
        })
        const [said, told] = [stdout, stderr].map((path) => readFileSync(path, 'utf8'))
        return { exitCode, stdout: said ?? '', stderr: told ?? '' }
      } finally {
        rmSync(outputs, { recursive: true, force: true })
      }
    },
    close: () => parent?.child.stdin?.end(),
  }
}

interface Parent {
  readonly child: ChildProcess
  /** Rejects when Python ends in place of an answer. */
  ask(request: object): Promise<number>
}

function startParent({ interpreter, modules, program, folder, environment }: Imports): Parent {
  const child = spawn(interpreter, [program, ...modules], {
    cwd: folder,
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const waiting: { resolve: (code: number) => void; reject: (error: Error) => void }[] = []
  createInterface(child.stdout).on('line', (line) => waiting.shift()?.resolve(Number(line)))
  const fail = (reason: string) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(reason))
  }
  child.once('error', ({ message }) => fail(message))
  child.once('close', (code) => fail(`forks.py ended with ${code}:\n${said.slice(-4000)}`))
  child.stdin.on('error', ({ message }) => fail(message))
  return {
    child,
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        child.stdin.write(`${JSON.stringify(request)}\n`)
      }),
  }
}
