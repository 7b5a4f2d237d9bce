/**
 * Describes a collection of the service, as far as it differs from the others. By default, the path is the name, the
 * primary key is `id`, and versions are in `changeVersion`.
 */
export interface Collection {
  /** One sentence that helps users to choose streams. */
  readonly description: string
  /**
   * How the collection is read: `delta` follows the links of `?delta`; `list` reads the whole list in each sync,
   * because the service documents no delta.
   */
  readonly replication: 'delta' | 'list'
  /**
   * The member by which the service filters records by day. Lists and the first request of a delta need a range of
   * days.
   */
  readonly dateField?: 'date' | 'from'
  /** The middle parts of the scopes that allow reading, the preferred one first; by default the name. */
  readonly scopes?: readonly string[]
  /** Collections whose external references can be requested in lists and deltas. */
  readonly references?: readonly string[]
  /** The field and the value that mark a deleted record which the service still sends. */
  readonly softDelete?: { readonly field: string; readonly value: string }
  /** A field that should be an array; a single object is wrapped in one. */
  readonly array?: string
  /** The primary key, if it is not `id`. */
  readonly key?: readonly string[]
  /** False if records have no `changeVersion`. */
  readonly versioned?: false
  /** False if the service documents no request for a single record by its `id`. */
  readonly single?: false
  /** How the collection is divided into paths, which are read one after another. */
  readonly nested?: 'activity_structures' | 'referenced_collections'
}

/** A collection with its names: `collection` is the service's name, `stream` is the connector's. */
export interface Stream extends Collection {
  readonly collection: string
  readonly stream: string
}

const HISTORY_SCOPES = ['people', 'people-historical-data'] as const

/**
 * All collections that the connector reads, in alphabetical order, by the service's names. To add one, add an entry
 * here and a schema in `schemas/<name in snake_case>.json`.
 *
 * `terminals` is missing because the service documents no endpoint for it. Its references are in
 * `external-references`.
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
    // The documents name the scope of calculated-totals; the other one follows the naming rule.
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
 * The collections that can have custom external references, which the stream external_references reads one after
 * another. `terminals`, `circles` and `groups` are known only as targets of references.
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
