import type { Emulator } from '../../emulator/emulator.ts'
import type { Stream } from '../../src/streams/collections.ts'
import type { Fault } from './history.ts'

/** Lets the service go wrong in a way that a history has drawn. */
export function disturb(
  { kind, path, stream, skip, times }: Fault,
  emulator: Emulator,
  streams: readonly Stream[],
): void {
  const { collection } = streams[stream % streams.length] as Stream
  const paths = {
    token: '/connect/token',
    list: `/${collection}`,
    delta: `/delta/${collection}`,
    'whole-list': new RegExp(`/${collection}([?](?!(.*&)?delta)|$)`),
    'delta-start': new RegExp(`^/${collection}[?](.*&)?delta$`),
  }
  const at = typeof path === 'object' ? `/external-references/${path.references}` : paths[path]
  if (typeof kind === 'number') emulator.fail(at, kind, { skip, times })
  else emulator.fault(at, kind, { skip, times, ms: 20 })
}
