import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'

/** A message of the Airbyte protocol, as far as the tests look into it. */
export interface Message {
  readonly type: string
  readonly record?: {
    readonly stream: string
    readonly emitted_at: number
    readonly data: Readonly<Record<string, unknown>>
  }
  readonly state?: {
    readonly type: string
    readonly stream: {
      readonly stream_descriptor: { readonly name: string }
      readonly stream_state: Readonly<Record<string, unknown>>
    }
    readonly sourceStats: { readonly recordCount: number }
  }
  readonly log?: { readonly level: string; readonly message: string }
  readonly trace?: {
    readonly type: string
    readonly emitted_at: number
    readonly error?: {
      readonly message: string
      readonly failure_type: string
      readonly internal_message?: string
      readonly stack_trace?: string
      readonly stream_descriptor?: { readonly name: string }
    }
    readonly stream_status?: {
      readonly stream_descriptor: { readonly name: string }
      readonly status: string
      readonly reasons?: readonly unknown[]
    }
    readonly analytics?: { readonly type: string; readonly value: string }
  }
  readonly connectionStatus?: { readonly status: string; readonly message?: string }
  readonly catalog?: { readonly streams: readonly CatalogStream[] }
  readonly spec?: { readonly connectionSpecification: Readonly<Record<string, unknown>> }
}

/** A stream of a catalog. */
export interface CatalogStream {
  readonly name: string
  readonly json_schema: Readonly<Record<string, unknown>> & {
    readonly properties: Readonly<Record<string, unknown>>
  }
  readonly source_defined_primary_key: readonly (readonly string[])[]
  readonly default_cursor_field: readonly string[]
  readonly [field: string]: unknown
}

const DEFINITION = new URL('./fixtures/airbyte_protocol.yaml', import.meta.url)
let validator: ValidateFunction | undefined

/** The faults of a message against the protocol's own definition; an empty text means none. */
export function protocolFaults(message: unknown): string {
  validator ??= compile()
  return validator(message) ? '' : JSON.stringify(validator.errors)
}

function compile(): ValidateFunction {
  // The definition has keywords of its code generator, which are not JSON Schema.
  const ajv = new Ajv({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(parse(readFileSync(DEFINITION, 'utf8')) as object, 'protocol')
  const validate = ajv.getSchema('protocol#/definitions/AirbyteMessage')
  if (validate === undefined) throw new Error('the protocol definition has no AirbyteMessage')
  return validate
}
