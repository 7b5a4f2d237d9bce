import { execFileSync } from 'node:child_process'

/** Compiles the project once before any test, because the tests run the real executables. */
export function setup() {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}
