import { spawn } from 'node:child_process'

/** How a program ended, and all it said. */
export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly folder: string
  readonly environment?: Readonly<Record<string, string>>
}

/** Longer than any of these commands takes; what needs more hangs. */
const LIMIT_MS = 180_000

/** Runs a program to its end; rejects only when it cannot be started. */
export function execute({ program, args, folder, environment }: Command): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
    })
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ exitCode, stdout: stdout(), stderr: stderr() }))
  })
}

/** The stdout of a program that must succeed; throws the end of what it said. */
export async function output(command: Command): Promise<string> {
  const { exitCode, stdout, stderr } = await execute(command)
  if (exitCode === 0) return stdout
  const said = `${stdout}\n${stderr}`.slice(-4000)
  throw new Error(`${command.program} ${command.args.join(' ')} ended with ${exitCode}:\n${said}`)
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('utf8')
}
