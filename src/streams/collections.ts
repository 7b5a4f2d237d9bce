/**
 * What is particular to one collection of the service; what all have in common (the path is the
 * name, the key is `id`, versions are in `changeVersion`) is written nowhere.
 */
export interface Collection {
  /** One sentence for people who choose streams. */
  readonly description: string
  /**
   * How the collection is read once and kept up to date: by `?delta` and its links, or, where the
   * service documents none, by a whole list at each sync.
   */
  readonly replication: 'delta' | 'list'
  /**
   * The member by which the service filters the records by day; their lists and delta starts need a
   * range of days.
   */
  readonly dateField?: 'date' | 'from'
  /** Middle parts of the scope names that grant reading, the preferred first; default: the name. */
  readonly scopes?: readonly string[]
  /** Collections whose external references list and delta can be asked for. */
  readonly references?: readonly string[]
  /** The field and value that mark a record as deleted although it is still sent. */
  readonly softDelete?: { readonly field: string; readonly value: string }
  /** A field that is an array; where the service sends a lone object, it is made an array of one. */
  readonly array?: string
  /** The columns that tell records apart, where it is not `id`. */
  readonly key?: readonly string[]
  /** False where the service sends no `changeVersion`. */
  readonly versioned?: false
  /** False where the service documents no address of a single record by its `id`. */
  readonly single?: false
  /** What the collection is split into: paths below it that are read one after another. */
  readonly nested?: 'activity_structures' | 'referenced_collections'
}

/** A collection with its names: `collection` is the service's, `stream` ours. */
export interface Stream extends Collection {
  readonly collection: string
  readonly stream: string
}

const HISTORY_SCOPES = ['people', 'people-historical-data'] as const

/**
 * Every collection the connector reads, in alphabetical order; the key is its name at the service.
 * To add one: an entry here and `schemas/<name in snake_case>.json`.
 *
 * `terminals` is missing on purpose: the service documents no endpoint for it. Its references are
 * in `external-references`.
 */
export const collections = {
  'absence-definitions': {
    description: 'Kinds of absence, such as holiday or illness.',
    replication: 'delta',
    references: ['absence-groups'],
  },
  'absence-groups': { description: 'Groups of absence definitions.', replication: 'delta' },
  absences: {
    description: 'Absences of people, including planned ones, one record per day.',
    replication: 'delta',
    dateField: 'date',
    references: ['people', 'shift-definitions', 'absence-definitions'],
  },
  'access-clockings': {
    description: 'Badge readings at access terminals.',
    replication: 'delta',
    dateField: 'date',
    references: ['people', 'terminals'],
  },
  'activity-definitions': {
    description:
      'Activities on which time can be registered, of the structures in the configuration.',
    replication: 'list',
    single: false,
    nested: 'activity_structures',
    references: ['activity-definitions'],
  },
  'activity-durations': {
    description: 'Time spent on activities, per person and day.',
    replication: 'delta',
    dateField: 'date',
    references: ['people', 'activity-definitions', 'absence-definitions', 'counter-definitions'],
    softDelete: { field: 'status', value: 'Deleted' },
    array: 'activityLevels',
  },
  assignments: {
    description: 'Planned work of people.',
    replication: 'delta',
    dateField: 'from',
    references: ['people', 'activity-definitions'],
    array: 'activityLevels',
  },
  'break-definitions': { description: 'Kinds of break.', replication: 'delta' },
  breaks: {
    description: 'Breaks, per person and day.',
    replication: 'delta',
    dateField: 'date',
    references: ['people'],
  },
  'calculated-totals': {
    description: 'Calculated totals, one record per person and day.',
    replication: 'delta',
    single: false,
    dateField: 'date',
    references: ['people', 'shift-definitions'],
  },
  clockings: {
    description: 'Clockings of people: in and out, reasons, activities.',
    replication: 'delta',
    dateField: 'date',
    references: ['people', 'terminals', 'activity-definitions', 'absence-definitions'],
    softDelete: { field: 'status', value: 'Deleted' },
    array: 'activityLevels',
  },
  contracts: {
    description: 'Employment contracts and their addenda.',
    replication: 'delta',
    references: ['contracts', 'people'],
  },
  'counter-definitions': {
    description: 'Kinds of counter, such as overtime or allowances.',
    replication: 'delta',
    references: ['counter-definitions', 'counter-groups'],
  },
  'counter-groups': { description: 'Groups of counter definitions.', replication: 'delta' },
  counters: {
    description: 'Counters, per person and day.',
    replication: 'delta',
    dateField: 'date',
    references: ['people', 'shift-definitions', 'counter-definitions'],
  },
  'department-histories': {
    description: 'Which department a person belonged to, and when.',
    replication: 'list',
    single: false,
    scopes: HISTORY_SCOPES,
    references: ['departments'],
  },
  departments: { description: 'Departments that people belong to.', replication: 'delta' },
  'employer-histories': {
    description: 'Which employer employed a person, and when.',
    replication: 'list',
    single: false,
    scopes: HISTORY_SCOPES,
    references: ['employers'],
  },
  employers: { description: 'Legal entities that employ people.', replication: 'delta' },
  'external-references': {
    description: 'Custom external references of every collection that supports them.',
    replication: 'list',
    single: false,
    key: ['collection', 'name', 'value'],
    versioned: false,
    nested: 'referenced_collections',
  },
  'job-categories': { description: 'Categories of jobs.', replication: 'list' },
  'job-category-histories': {
    description: 'Which job category a person had, and when.',
    replication: 'list',
    single: false,
    scopes: HISTORY_SCOPES,
    references: ['job-categories'],
  },
  'job-histories': {
    description: 'Which job a person had, and when.',
    replication: 'list',
    single: false,
    scopes: HISTORY_SCOPES,
    references: ['jobs'],
  },
  jobs: { description: 'Jobs that people have.', replication: 'delta' },
  'paid-presences': {
    description: 'Paid time of people; a person may have several records on a day.',
    replication: 'delta',
    single: false,
    dateField: 'date',
    // The documentation names the scope of calculated-totals, the naming rule gives the other.
    scopes: ['calculated-totals', 'paid-presences'],
    references: ['people', 'shift-definitions'],
  },
  people: {
    description: 'The people of the tenant, with sensitive personal data.',
    replication: 'delta',
    references: ['people'],
  },
  'sector-histories': {
    description: 'Which sector a person belonged to, and when.',
    replication: 'list',
    single: false,
    scopes: HISTORY_SCOPES,
    references: ['sectors'],
  },
  sectors: { description: 'Sectors that people belong to.', replication: 'list' },
  'shift-definitions': {
    description: 'Shifts that people can be scheduled for.',
    replication: 'delta',
  },
  'work-interruptions': {
    description: 'Interruptions of work, per person and day.',
    replication: 'delta',
    dateField: 'date',
    references: ['people'],
  },
  'work-location-histories': {
    description: 'Which work location a person had, and when.',
    replication: 'list',
    single: false,
    scopes: HISTORY_SCOPES,
    references: ['work-locations'],
  },
  'work-locations': { description: 'Places where people work.', replication: 'list' },
} as const satisfies Record<string, Collection>

/**
 * Collections that take custom external references: what the stream
 * external_references asks for, one after another. `terminals`, `circles` and `groups` are known
 * as targets of references only.
 */
export const referencedCollections = [
  'absence-definitions',
  'absence-groups',
  'activity-definitions',
  'break-definitions',
  'circles',
  'contracts',
  'counter-definitions',
  'counter-groups',
  'departments',
  'employers',
  'groups',
  'job-categories',
  'jobs',
  'people',
  'sectors',
  'shift-definitions',
  'terminals',
  'work-locations',
] as const
