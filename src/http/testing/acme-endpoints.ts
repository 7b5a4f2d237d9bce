import { createEndpoints } from '../endpoints.ts'

/** Those of the tenant acme. */
export const acmeEndpoints = createEndpoints({
  baseUrl: 'https://acme.protime.test',
  authUrl: 'https://authentication.protime.test/tenants/acme',
  apiName: 'svcapi',
  company: undefined,
  version: '1.0.0',
})
