import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A program that runs until it is killed. */
export interface Program {
  /** All that it said on stdout. */
  said(): string
  kill(signal?: NodeJS.Signals): Promise<void>
}

export interface ProgramOptions {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

/** Runs a program, `exec` of a shell's line or a file of JavaScript. */
export function start(line: string, { folder, environment }: ProgramOptions): Program {
  const child = spawn('sh', ['-c', `exec ${line}`], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return {
    said: () => said,
    async kill(signal = 'SIGKILL') {
      child.kill(signal)
      await ended
    },
  }
}

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
