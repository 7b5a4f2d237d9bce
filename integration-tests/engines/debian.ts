import { execFileSync } from 'node:child_process'

/** Installs a package of Debian, without starting what is in it. */
export function installDebian(name: string): void {
  aptGet('update', '-qq')
  aptGet('install', '-y', '-qq', name)
}

function aptGet(...args: readonly string[]): void {
  // In the runlevel of a single user Debian starts no service of a package.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  execFileSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
}
