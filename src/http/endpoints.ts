/** Where a tenant's service is and what its parts are called. */
export interface Endpoints {
  /** `https://host`, where the bearer token may go and nowhere else. */
  readonly origin: string
  /** Path of the host below which a proxy serves the API; usually empty. */
  readonly mount: string
  /** `/connector/<api>/api/v1`. */
  readonly prefix: string
  readonly tokenUrl: string
  readonly apiName: string
  /** `source-protime/<version> (<company>)`; the vendor tells integrations apart by it. */
  readonly userAgent: string
}

/** What the service's addresses follow from. */
export interface EndpointSettings {
  readonly baseUrl: string
  readonly authUrl: string
  readonly apiName: string
  readonly company: string | undefined
  readonly version: string
}

/** The endpoints of a tenant. */
export function createEndpoints(settings: EndpointSettings): Endpoints {
  const { origin, pathname } = new URL(settings.baseUrl)
  const company = settings.company?.replace(/[^\x20-\x7e]|[()]/g, '').trim()
  return {
    origin,
    mount: pathname.replace(/\/+$/, ''),
    prefix: `/connector/${settings.apiName}/api/v1`,
    tokenUrl: `${settings.authUrl}/connect/token`,
    apiName: settings.apiName,
    userAgent: `source-protime/${settings.version}${company ? ` (${company})` : ''}`,
  }
}

/** The full name of a scope such as `people.read`. */
export function scopeName({ apiName }: Endpoints, scope: string): string {
  return `connector-${apiName}-${scope}`
}
