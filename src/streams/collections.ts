import type { Collection } from './collection.ts'

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
    about: 'Kinds of absence, such as holiday or illness.',
    changes: 'delta',
    references: ['absence-groups'],
  },
  'absence-groups': { about: 'Groups of absence definitions.', changes: 'delta' },
  absences: {
    about: 'Absences of people, one record per day, also planned ones.',
    changes: 'delta',
    dated: true,
    references: ['people', 'shift-definitions', 'absence-definitions'],
  },
  'access-clockings': {
    about: 'Badge readings at access terminals.',
    changes: 'delta',
    dated: true,
    references: ['people', 'terminals'],
  },
  'activity-definitions': {
    about: 'Activities on which time can be registered, of the structures in the configuration.',
    changes: 'list',
    nested: 'activity_structures',
    references: ['activity-definitions'],
  },
  'activity-durations': {
    about: 'Time spent on activities, per person and day.',
    changes: 'delta',
    dated: true,
    references: ['people', 'activity-definitions', 'absence-definitions', 'counter-definitions'],
    softDelete: { field: 'status', value: 'Deleted' },
    array: 'activityLevels',
  },
  assignments: {
    about: 'Planned work of people.',
    changes: 'delta',
    dated: true,
    references: ['people', 'activity-definitions'],
    array: 'activityLevels',
  },
  'break-definitions': { about: 'Kinds of break.', changes: 'delta' },
  breaks: {
    about: 'Breaks of people, per day.',
    changes: 'delta',
    dated: true,
    references: ['people'],
  },
  'calculated-totals': {
    about: 'The calculated result of a day, one record per person and day.',
    changes: 'delta',
    dated: true,
    references: ['people', 'shift-definitions'],
  },
  clockings: {
    about: 'Clockings of people: in and out, reasons, activities.',
    changes: 'delta',
    dated: true,
    references: ['people', 'terminals', 'activity-definitions', 'absence-definitions'],
    softDelete: { field: 'status', value: 'Deleted' },
    array: 'activityLevels',
  },
  contracts: {
    about: 'Employment contracts and their addenda.',
    changes: 'delta',
    references: ['contracts', 'people'],
  },
  'counter-definitions': {
    about: 'Kinds of counter, such as overtime or allowances.',
    changes: 'delta',
    references: ['counter-definitions', 'counter-groups'],
  },
  'counter-groups': { about: 'Groups of counter definitions.', changes: 'delta' },
  counters: {
    about: 'Counters of people, per day.',
    changes: 'delta',
    dated: true,
    references: ['people', 'shift-definitions', 'counter-definitions'],
  },
  'department-histories': {
    about: 'Which department a person belonged to, and when.',
    changes: 'list',
    scopes: HISTORY_SCOPES,
    references: ['departments'],
  },
  departments: { about: 'Departments that people belong to.', changes: 'delta' },
  'employer-histories': {
    about: 'Which employer a person belonged to, and when.',
    changes: 'list',
    scopes: HISTORY_SCOPES,
    references: ['employers'],
  },
  employers: { about: 'Legal entities that employ people.', changes: 'delta' },
  'external-references': {
    about: 'Custom external references of every collection that supports them.',
    changes: 'list',
    key: ['collection', 'name', 'value'],
    versioned: false,
    nested: 'referenced_collections',
  },
  'job-categories': { about: 'Categories of jobs.', changes: 'list' },
  'job-category-histories': {
    about: 'Which job category a person had, and when.',
    changes: 'list',
    scopes: HISTORY_SCOPES,
    references: ['job-categories'],
  },
  'job-histories': {
    about: 'Which job a person had, and when.',
    changes: 'list',
    scopes: HISTORY_SCOPES,
    references: ['jobs'],
  },
  jobs: { about: 'Jobs that people have.', changes: 'delta' },
  'paid-presences': {
    about: 'Paid time of people, possibly several records per person and day.',
    changes: 'delta',
    dated: true,
    // The documentation names the scope of calculated-totals, the naming rule gives the other
    // (api.md section 13, 12).
    scopes: ['calculated-totals', 'paid-presences'],
    references: ['people', 'shift-definitions'],
  },
  people: {
    about: 'The people of the tenant, with sensitive personal data.',
    changes: 'delta',
    references: ['people'],
  },
  'sector-histories': {
    about: 'Which sector a person belonged to, and when.',
    changes: 'list',
    scopes: HISTORY_SCOPES,
    references: ['sectors'],
  },
  sectors: { about: 'Sectors that people belong to.', changes: 'list' },
  'shift-definitions': { about: 'Shifts that people can be scheduled for.', changes: 'delta' },
  'work-interruptions': {
    about: 'Interruptions of the work of people, per day.',
    changes: 'delta',
    dated: true,
    references: ['people'],
  },
  'work-location-histories': {
    about: 'Which work location a person had, and when.',
    changes: 'list',
    scopes: HISTORY_SCOPES,
    references: ['work-locations'],
  },
  'work-locations': { about: 'Places where people work.', changes: 'list' },
} as const satisfies Record<string, Collection>

/**
 * Collections that take custom external references (api.md section 6): what the stream
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
