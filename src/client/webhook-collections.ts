/** The collections for which the service offers webhooks. */
export const webhookCollections = [
  'absence-definitions',
  'absence-groups',
  'absences',
  'access-clockings',
  'activity-durations',
  'assignments',
  'break-definitions',
  'breaks',
  'calculated-totals',
  'clockings',
  'contracts',
  'counter-definitions',
  'counter-groups',
  'counters',
  'paid-presences',
  'people',
  'shift-definitions',
  'work-interruptions',
] as const

/** A collection for which the service offers webhooks. */
export type WebhookCollection = (typeof webhookCollections)[number]

/** The stream of a collection. */
export function streamOf(collection: string): string {
  return collection.replaceAll('-', '_')
}
