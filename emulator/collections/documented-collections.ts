/** The properties of one collection, and its rules. */
export interface CollectionFacts {
  /** The middle parts of its scope names; one of them is enough. */
  readonly scopes: readonly string[]
  /** The key of the endpoint for single records, if there is one. */
  readonly single: 'id' | 'reference' | 'none'
  readonly delta: boolean
  /** Set if ids are GUIDs, not integers. */
  readonly hasGuids?: true
  /** The property behind the filter `date`, which lists and deltas require when it is set. */
  readonly dateField?: 'date' | 'from'
  /** Set if that filter is optional. */
  readonly isDateOptional?: true
  /** Whether a list's range of dates is limited to one year. */
  readonly yearOnly: boolean
  readonly listFilters: readonly string[]
  readonly deltaFilters: readonly string[]
  /** Collections whose external references can be asked for, per kind of request. */
  readonly references: {
    readonly list: readonly string[]
    readonly single: readonly string[]
    readonly delta: readonly string[]
  }
  /** Predefined reference names and the properties behind them. */
  readonly predefined: Readonly<Record<string, string>>
  readonly custom: boolean
  /** A deleted record remains, with the status Deleted. */
  readonly softDeletes: boolean
  /** Saving one record saves all of the collection. */
  readonly savedTogether: boolean
  /** The status of an unknown continuation token. */
  readonly unknownToken: 400 | 409
}

/** The facts of a collection without particularities. */
export const plain: CollectionFacts = {
  scopes: [],
  single: 'none',
  delta: true,
  yearOnly: false,
  listFilters: [],
  deltaFilters: [],
  references: { list: [], single: [], delta: [] },
  predefined: {},
  custom: false,
  softDeletes: false,
  savedTogether: false,
  unknownToken: 400,
}

type Particulars = Partial<Omit<CollectionFacts, 'references'>>

function related(...names: readonly string[]): CollectionFacts['references'] {
  return { list: names, single: names, delta: names }
}

function dated(references: readonly string[], more: Particulars = {}): CollectionFacts {
  return {
    ...plain,
    single: 'id',
    dateField: 'date',
    yearOnly: true,
    listFilters: ['date', 'person'],
    deltaFilters: ['date'],
    references: related(...references),
    ...more,
  }
}

function referenceData(name: string, more: Particulars = {}): CollectionFacts {
  const references = { list: [], single: [name], delta: [] }
  return { ...plain, single: 'reference', custom: true, references, ...more }
}

function history(entity: string): CollectionFacts {
  return {
    ...plain,
    scopes: ['people', 'people-historical-data'],
    delta: false,
    references: { list: [entity], single: ['people'], delta: [] },
  }
}

/**
 * Every collection that the vendor documents. In the dialect of the documentation each of them has a
 * list.
 */
export const documentedCollections: Readonly<Record<string, CollectionFacts>> = named({
  absences: dated(['people', 'shift-definitions', 'absence-definitions']),
  'absence-definitions': {
    ...referenceData('absence-definitions', { predefined: { '@absence-code': 'code' } }),
    references: {
      list: ['absence-groups'],
      single: ['absence-definitions', 'absence-groups'],
      delta: ['absence-groups'],
    },
  },
  'absence-groups': referenceData('absence-groups', { savedTogether: true }),
  'access-clockings': dated(['people', 'terminals']),
  'activity-definitions': {
    ...referenceData('activity-definitions', {
      delta: false,
      hasGuids: true,
      predefined: {
        '@data-entry-code': 'dataEntryCode',
        '@external-reference': 'externalReference',
      },
    }),
    references: related('activity-definitions'),
  },
  'activity-durations': dated(
    ['people', 'activity-definitions', 'absence-definitions', 'counter-definitions'],
    { softDeletes: true },
  ),
  assignments: dated(['people', 'activity-definitions'], { dateField: 'from', yearOnly: false }),
  'break-definitions': referenceData('break-definitions'),
  breaks: dated(['people']),
  'calculated-totals': dated(['people', 'shift-definitions'], { single: 'none' }),
  clockings: dated(['people', 'terminals', 'activity-definitions', 'absence-definitions'], {
    listFilters: ['date', 'person', 'kind'],
    softDeletes: true,
  }),
  contracts: {
    ...referenceData('contracts', { listFilters: ['person'], unknownToken: 409 }),
    references: related('contracts', 'people'),
  },
  counters: dated(['people', 'shift-definitions', 'counter-definitions'], {
    listFilters: ['date', 'person', 'counter-definition', 'status'],
    deltaFilters: ['date', 'counter-definition', 'status'],
  }),
  'counter-definitions': {
    ...referenceData('counter-definitions', {
      listFilters: ['counter-group', 'enabled'],
      deltaFilters: ['counter-group', 'enabled'],
      predefined: { '@counter-code': 'code' },
    }),
    references: related('counter-definitions', 'counter-groups'),
  },
  'counter-groups': referenceData('counter-groups', { savedTogether: true }),
  departments: referenceData('departments'),
  employers: referenceData('employers'),
  'job-categories': referenceData('job-categories', { delta: false }),
  jobs: referenceData('jobs'),
  'paid-presences': dated(['people', 'shift-definitions'], {
    scopes: ['calculated-totals'],
    single: 'none',
  }),
  people: {
    ...referenceData('people', {
      listFilters: ['person'],
      predefined: { '@badge-number': 'badgeNumber', '@employee-number': 'employeeNumber' },
    }),
    references: related('people'),
  },
  sectors: referenceData('sectors', { delta: false }),
  'shift-definitions': referenceData('shift-definitions', {
    predefined: { '@shift-code': 'code' },
  }),
  'work-interruptions': dated(['people'], { unknownToken: 409 }),
  'work-locations': referenceData('work-locations', { delta: false }),
  'department-histories': history('departments'),
  'employer-histories': history('employers'),
  'job-histories': history('jobs'),
  'job-category-histories': history('job-categories'),
  'sector-histories': history('sectors'),
  'work-location-histories': history('work-locations'),
})

/**
 * Collections that exist as targets of references only: terminals have codes, the others custom
 * references.
 */
export const referenceTargets: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  terminals: { '@external-code': 'externalCode' },
  circles: {},
  groups: {},
}

/** The collections that the objects with an id inside of records belong to, by property. */
export const documentedRelations: Readonly<Record<string, string>> = {
  person: 'people',
  terminal: 'terminals',
  shiftDefinition: 'shift-definitions',
  absenceDefinition: 'absence-definitions',
  resultingAbsenceDefinition: 'absence-definitions',
  requestedAbsenceDefinition: 'absence-definitions',
  reason: 'absence-definitions',
  absenceGroup: 'absence-groups',
  counterDefinition: 'counter-definitions',
  counterDefinitions: 'counter-definitions',
  counterGroup: 'counter-groups',
  breakDefinition: 'break-definitions',
  activityDefinition: 'activity-definitions',
  parent: 'activity-definitions',
  parentContract: 'contracts',
  department: 'departments',
  employer: 'employers',
  job: 'jobs',
  jobCategory: 'job-categories',
  sector: 'sectors',
  workLocation: 'work-locations',
}

function named(table: Record<string, CollectionFacts>): Record<string, CollectionFacts> {
  for (const [name, facts] of Object.entries(table)) {
    if (facts.scopes.length === 0) table[name] = { ...facts, scopes: [name] }
  }
  return table
}
