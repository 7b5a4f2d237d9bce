import type { Platform } from './warehouses.ts'

/** A bookmark as it is stored. */
export type Blob = Record<string, unknown>

/** A platform whose state of a stream is another one; its rows are the same. */
export function withState(
  platform: Platform,
  stream: string,
  change: (blob: Blob) => unknown,
): Platform {
  const state = platform.state.map((entry) => {
    const copy = structuredClone(entry) as {
      stream: { stream_descriptor: { name: string }; stream_state: unknown }
    }
    if (copy.stream.stream_descriptor.name === stream)
      copy.stream.stream_state = change(copy.stream.stream_state as Blob)
    return copy
  })
  return Object.defineProperties({} as Platform, {
    ...Object.getOwnPropertyDescriptors(platform),
    state: { value: state },
  })
}
