/**
 * Ends when a request that was just made is on the wire: undici lets two turns of the event loop
 * pass before it uses a connection again. Work that blocks must wait for it, or it delays the request.
 */
export async function onTheWire(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
}
