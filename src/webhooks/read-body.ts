/** The bytes of a body, or undefined as soon as they are more than `maxBytes`. */
export async function readBody(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) return undefined
    parts.push(chunk)
  }
  return Buffer.concat(parts, bytes)
}
