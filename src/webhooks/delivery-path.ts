/** What the path of a delivery tells: nothing else of a delivery names its collection. */
export interface DeliveryPath {
  readonly collection: string
  readonly nonce: string
}

const PATH = /^\/hooks\/([a-z-]+)\/([A-Za-z0-9_-]+)$/

/** The path below the public URL to which the deliveries of a webhook go. */
export function deliveryPath({ collection, nonce }: DeliveryPath): string {
  return `/hooks/${collection}/${nonce}`
}

/** Reads the path of a request, with or without the prefix of the public URL and a query. */
export function parseDeliveryPath(target: string, prefix = ''): DeliveryPath | undefined {
  const [path = ''] = target.split('?', 1)
  const below = path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
  const [, collection, nonce] = PATH.exec(below) ?? []
  return collection === undefined || nonce === undefined ? undefined : { collection, nonce }
}
