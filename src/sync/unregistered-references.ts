import type { Config } from '../config/config.ts'
import type { Client } from '../http/client.ts'
import type { Endpoints } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import { requestUrl } from '../http/request-url.ts'
import { parseReferencePage } from '../page/reference-page.ts'
import { ConnectorError } from '../protocol/errors.ts'

/**
 * The configured custom references of which the service holds none, as `name of collection`. It
 * takes such a name without a word, and adds nothing to the records. Where the answer leaves room
 * for doubt, nothing is said.
 */
export async function unregisteredReferences(
  { externalReferences }: Config,
  { client, endpoints }: { readonly client: Client; readonly endpoints: Endpoints },
): Promise<string[]> {
  const unregistered: string[] = []
  for (const { collection, names } of externalReferences) {
    // Names that begin with @ are the service's own and are not listed.
    for (const name of names.filter((name) => !name.startsWith('@'))) {
      const path = `/external-references/${collection}/${encodeURIComponent(name)}`
      const isMissing = await client
        .get(requestUrl({ path }, endpoints))
        .then((body) => 'whole' in body && isEmpty(Buffer.concat(body.whole).toString('utf8')))
        .catch(isUnknown)
      if (isMissing) unregistered.push(`${name} of ${collection}`)
    }
  }
  return unregistered
}

/** The form of the answer is not documented; what cannot be read as a list is not called empty. */
function isEmpty(text: string): boolean {
  try {
    const { references, nextLink } = parseReferencePage(text, '')
    return references.length === 0 && nextLink === undefined
  } catch {
    return false
  }
}

function isUnknown(error: unknown): boolean {
  if (error instanceof ConnectorError) return error instanceof HttpError && error.status === 404
  throw error
}
