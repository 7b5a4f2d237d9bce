import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { PROJECT } from './connector.ts'

/** Other ways to write a source, as far as they can be had here; see `peers/`. */
export interface Peers {
  /** Where faros-airbyte-cdk is installed. */
  readonly faros: string | undefined
  /** A Python that has airbyte-cdk. */
  readonly python: string | undefined
}

const FOLDER = join(PROJECT, 'node_modules/.cache/bench-peers')
/** It needs more than it says. */
const FAROS = ['faros-airbyte-cdk@0.23.19', 'commander@9', 'lodash@4', 'faros-js-client@0.7']
const AIRBYTE_CDK = 'airbyte-cdk==7.39.1'

/** Installs them with npm and pip, once; what cannot be installed is left out. */
export function installPeers(): Peers {
  const faros = join(FOLDER, 'npm')
  const venv = join(FOLDER, 'python')
  const python = join(venv, 'bin/python')
  return {
    faros: ifDone(faros, ['npm', 'install', '--ignore-scripts', '--prefix', faros, ...FAROS]),
    python: ifDone(
      python,
      ['python3', '-m', 'venv', venv],
      [python, '-m', 'pip', 'install', AIRBYTE_CDK],
    ),
  }
}

function ifDone(result: string, ...commands: readonly (readonly [string, ...string[]])[]) {
  try {
    for (const [program, ...words] of commands) execFileSync(program, words, { stdio: 'ignore' })
    return result
  } catch {
    return undefined
  }
}
