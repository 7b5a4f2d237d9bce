import type { Ended } from './command.ts'
import type { PythonCommand } from './forks.ts'

/** What the run of an engine works with. */
export interface Tools {
  /** The connector's executable. */
  readonly executable: string
  /** The wheel that is packed from it: what people install with pip. */
  readonly wheel: string
  /** The project's own files. */
  readonly projectFolder: string
  /** An empty folder, removed after the run. */
  readonly folder: string
  /** Runs a Python program, of this folder or with a whole path, in the engine's environment; answers with its stdout. */
  python(program: string, args: readonly string[]): Promise<string>
  /** Runs a program of Python to its end, in the engine's environment. */
  execute(command: PythonCommand): Promise<Ended>
  /** Tells the outcome of one thing that was tried; an error that `attempt` throws is its failure. */
  step<Result>(name: string, attempt: () => Promise<Result>): Promise<Result | undefined>
}

/** Somebody else's program that has to accept the connector. */
export interface Engine {
  readonly name: string
  /** Python packages with their versions, as pip takes them. */
  readonly requirements: readonly string[]
  /** The name of the environment of these packages, by default its own. */
  readonly environment?: string
  /** Modules of Python that take seconds to import: its programs are processes of their own, forked from one that has them. */
  readonly imports?: readonly string[]
  run(tools: Tools): Promise<void>
}
