import type { Fields, Id } from '../store/store.ts'
import type { Controls } from './controls.ts'

/** One argument of a command: a property of the JSON object that is posted. */
export interface Argument {
  readonly takes: 'collection' | 'id' | 'text' | 'number' | 'object' | readonly (string | number)[]
  readonly text: string
  readonly isOptional?: true
}

/** The posted object; its properties have been checked against the arguments. */
export type Given = Fields & { readonly collection: string; readonly id: Id; readonly path: string }

/** What can be posted to a path of the control endpoint. */
export interface Command {
  readonly text: string
  /** Left out where the command checks its properties itself. */
  readonly takes?: Readonly<Record<string, Argument>>
  /** Runs on a tenant of the default size. */
  readonly example: Fields
  run(controls: Controls, given: Given): unknown
}

/** What can be read with GET. */
export interface View {
  readonly text: string
  /** Below the path, if it takes a collection. */
  readonly example?: string
  show(controls: Controls, collection: string): unknown
}
