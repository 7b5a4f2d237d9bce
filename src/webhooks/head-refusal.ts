/** What is known of a delivery before its body is read. */
export interface DeliveryHead {
  readonly method: string | undefined
  readonly contentEncoding: string | null | undefined
  readonly contentLength: string | null | undefined
}

/** The status that refuses a delivery by its head alone, or undefined. */
export function headRefusal(
  { method, contentEncoding, contentLength }: DeliveryHead,
  maxBytes: number,
): 405 | 413 | 415 | undefined {
  if (method !== 'POST') return 405
  // The signature covers the bytes as sent, which nobody has seen once they are unpacked.
  if ((contentEncoding ?? 'identity').toLowerCase() !== 'identity') return 415
  if (Number(contentLength ?? 0) > maxBytes) return 413
  return undefined
}
