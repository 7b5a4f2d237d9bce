/**
 * The collections that webhooks can be created for, with the same external references as their
 * deltas. `assignments` is in the documentation; the specification has it apart.
 */
export const webhookCollections: readonly string[] = [
  'absences',
  'absence-definitions',
  'absence-groups',
  'access-clockings',
  'activity-durations',
  'assignments',
  'break-definitions',
  'breaks',
  'calculated-totals',
  'clockings',
  'contracts',
  'counters',
  'counter-definitions',
  'counter-groups',
  'paid-presences',
  'people',
  'shift-definitions',
  'work-interruptions',
]
