import { isFields, typesOf } from '../subschemas.ts'
import type { Fields } from '../transcript.ts'

/** Names that CAT and FAST take for secrets; CAT's `tenant_id`, `app_id` and `appid` identify only (FAST). */
const NAMES = new Set([
  'access_token',
  'api_token',
  'certificate',
  'client_secret',
  'client_token',
  'credentials',
  'jwt',
  'key',
  'password',
  'refresh_token',
  'secret',
  'service_account',
  'service_account_info',
  'token',
])
const ENDINGS = /(_token|_secret|password|api_key|apikey|secret_key|private_key|access_key)$/
const CAPABLE = ['string', 'integer', 'number']
const VARIANTS = ['oneOf', 'anyOf', 'allOf']

/**
 * Fields that can hold a secret are marked, others are not, and each mark stands where masking
 * looks for it: on properties and below `oneOf`, not below `anyOf`, `allOf` or a root `oneOf`.
 */
export function secretsAreMarked(specification: Fields): string[] {
  const atRoot = VARIANTS.flatMap((keyword) => {
    const variants = specification[keyword]
    return Array.isArray(variants)
      ? variants.flatMap((one) => judge(one, `#/${keyword}`, true))
      : []
  })
  const { oneOf: _one, anyOf: _any, allOf: _all, ...rest } = specification
  return [...atRoot, ...judge(rest, '#', false)]
}

function judge(schema: unknown, at: string, isUnmasked: boolean, name?: string): string[] {
  if (!isFields(schema)) return []
  const faults = name === undefined ? [] : faultsOf(schema, at, isUnmasked, name)
  const { properties, items } = schema
  if (isFields(properties)) {
    for (const [below, field] of Object.entries(properties))
      faults.push(...judge(field, `${at}/properties/${below}`, isUnmasked, below))
  }
  for (const keyword of VARIANTS) {
    const variants = schema[keyword]
    if (!Array.isArray(variants)) continue
    const isHidden = isUnmasked || keyword !== 'oneOf'
    for (const [i, variant] of variants.entries())
      faults.push(...judge(variant, `${at}/${keyword}/${i}`, isHidden))
  }
  return [...faults, ...judge(items, `${at}/items`, isUnmasked, name)]
}

function faultsOf(schema: Fields, at: string, isUnmasked: boolean, name: string): string[] {
  const mark = schema['airbyte_secret']
  if (mark !== undefined && typeof mark !== 'boolean')
    return [`${at}: airbyte_secret is no boolean`]
  if (mark === true && isUnmasked) return [`${at}: airbyte_secret where nothing masks it`]
  const canHold = !('const' in schema) && typesOf(schema).some((type) => CAPABLE.includes(type))
  if (mark === true && !canHold) return [`${at}: airbyte_secret on what holds no secret`]
  const called = name
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .replaceAll('-', '_')
    .toLowerCase()
  const looksSecret = NAMES.has(called) || ENDINGS.test(called)
  return looksSecret && canHold && mark === undefined
    ? [`${at}: looks like a secret and is not marked`]
    : []
}
