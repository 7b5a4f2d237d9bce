// Made by `npm run docs` from the schemas beside it.

/**
 * The records that webhooks send, by the service's name of their collection. Any member but `id` can be missing,
 * and there can be others that are not documented.
 */
export interface Records {
  /** One kind of absence, such as holiday, illness or remote work. */
  readonly 'absence-definitions': {
    /** Identifier of the absence definition, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** Name of the kind of absence, as a default text and in translations. */
    readonly name?: {
      /** Name for readers without a translation of their own. */
      readonly default?: string | null
      /** Name by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Code of the kind of absence, unique in the tenant; the value of the external reference @absence-code. */
    readonly code?: string | null
    /** Name of the kind of absence as it is shown to employees, as a default text and in translations. */
    readonly friendlyName?: {
      /** Friendly name for readers without a translation of their own. */
      readonly default?: string | null
      /** Friendly name by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Short code of the kind of absence as it is shown to employees, as a default text and in translations. */
    readonly friendlyCode?: {
      /** Friendly code for readers without a translation of their own. */
      readonly default?: string | null
      /** Friendly code by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** How long an absence of this kind may be asked for. */
    readonly allowedDurations?: readonly (string | null)[] | null
    /** Whether the kind of absence is in use. */
    readonly isEnabled?: boolean | null
    /** Whether an employee may choose it as the reason of a clocking (clockings.reason). */
    readonly isReasonForClocking?: boolean | null
    /** The group that the kind of absence belongs to. */
    readonly absenceGroup?: {
      /** Identifier of the absence group; joins to absence_groups.id. */
      readonly id?: number | null
      /** External references of the absence group: reference name to value, custom names only. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
  }

  /** One group of absence definitions. Saving one group in the product saves all of them, so a sync can bring every group again although nothing changed. */
  readonly 'absence-groups': {
    /** Identifier of the absence group, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** Name of the group, as a default text and in translations. */
    readonly name?: {
      /** Name for readers without a translation of their own. */
      readonly default?: string | null
      /** Name by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** What the absences of the group mean. Known values: Unknown, Absence, WorkingElsewhere (work at another place, not time off); more may follow. */
    readonly type?: string | null
  }

  /** One absence of one person on one day, requested, planned or calculated. Absences can lie in the future. An absence of several days is several records. The kind of absence can reveal health information: sensitive personal data. */
  readonly 'absences': {
    /** Identifier of the absence, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** The person who is absent. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The kind of absence that results from the calculation; it can differ from the requested one. */
    readonly resultingAbsenceDefinition?: {
      /** Identifier of the absence definition; joins to absence_definitions.id. */
      readonly id?: number | null
      /** External references of the absence definition: reference name to value, the predefined @absence-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The kind of absence that was asked for; the calculation can turn it into another one, see resultingAbsenceDefinition. */
    readonly requestedAbsenceDefinition?: {
      /** Identifier of the absence definition; joins to absence_definitions.id. */
      readonly id?: number | null
      /** External references of the absence definition: reference name to value, the predefined @absence-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The shift that the absence belongs to. Left out when the shift comes from the schedule of the person. */
    readonly shiftDefinition?: {
      /** Identifier of the shift definition; joins to shift_definitions.id. */
      readonly id?: number | null
      /** External references of the shift definition: reference name to value, the predefined @shift-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day of the absence. */
    readonly date?: string | null
    /** Start of the absence, in minutes since midnight of date. */
    readonly startTimeInMinutes?: number | null
    /** Length of the absence in minutes, as entered. */
    readonly durationInMinutes?: number | null
    /** Length of the absence in minutes after the calculation rules. */
    readonly calculatedDurationInMinutes?: number | null
    /** Half of the day that the absence covers. Known values: Unknown, First, Second; more may follow. */
    readonly dayPart?: string | null
    /** The request that led to the absence, where there was one. */
    readonly request?: {
      /** Identifier of the request: text of the form {TenantId}-{PersonId}-{RequestId}, not a number. Contains the identifier of the person. */
      readonly id?: string | null
    } | null
    /** How the absence came about. Known values: Unknown, Manual, Auto, BeginOpen, Open, Terminal, Calendar; more may follow. */
    readonly status?: string | null
    /** How far the approval is. Known values: Unknown, AwaitingApproval, Approved, NotApproved, NotApprovedByPriorities, NotApprovedByCalculations; more may follow. */
    readonly approvalLevel?: string | null
    /** Whether the absence is locked against changes. */
    readonly isLocked?: boolean | null
    /** Kind of period that the absence is kept for. Known values: Unknown, Day, Week, PayPeriod; more may follow. */
    readonly periodType?: string | null
  }

  /** One badge reading at an access terminal, allowed or refused. For access control, not for worked time: that is in clockings. Shows where a person was at what time: personal data. */
  readonly 'access-clockings': {
    /** Identifier of the access clocking, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** The person whose badge was read. Can be missing while the badge is unknown. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day of the reading. */
    readonly date?: string | null
    /** Time of the reading, in minutes since midnight of date; always on that calendar day. */
    readonly timeOfDayInMinutes?: number | null
    /** The access terminal. The service offers no list of terminals. */
    readonly terminal?: {
      /** Identifier of the terminal. */
      readonly id?: number | null
      /** External references of the terminal: reference name to value, the predefined @external-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Result of the reading. Known values: AccessOk, AccessRefused, WrongPinCode, AlarmCode, AntiPassbackError, OutZone, UnknownBadgeNumber (UnknownBadge in the earlier documentation); more may follow. An unknown badge can be tied to a person later; the status then stays as it was. */
    readonly status?: string | null
  }

  /** Time that one person spent on one activity on one day. Records with the status Deleted are deletes and are treated as such. */
  readonly 'activity-durations': {
    /** Identifier of the activity duration, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. Missing from the field list of the current documentation, so it can be absent; then the version received last wins. */
    readonly changeVersion?: string | null
    /** The person who did the work. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day on which the work was done. */
    readonly date?: string | null
    /** Time spent, in minutes. */
    readonly durationInMinutes?: number | null
    /** The activity, level by level of the activity structure. An array with one object per level; where the service sends a single object in its place, it is an array of one. */
    readonly activityLevels?: readonly ({
      /** Number of the level in the activity structure of the tenant. */
      readonly level?: number | null
      /** The activity that was chosen at this level. */
      readonly activityDefinition?: {
        /** Identifier of the activity definition, a GUID as text; joins to activity_definitions.id. */
        readonly id?: string | null
        /** External references of the activity definition: reference name to value, the predefined @data-entry-code and @external-reference, and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
        readonly externalReferences?: Readonly<Record<string, unknown>> | null
      } | null
    } | null)[] | null
    /** The kind of absence, present only where an absence is linked. It can reveal health information: sensitive personal data. */
    readonly absenceDefinition?: {
      /** Identifier of the absence definition; joins to absence_definitions.id. */
      readonly id?: number | null
      /** External references of the absence definition: reference name to value, the predefined @absence-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The request that the duration comes from, present only where it was requested. */
    readonly request?: {
      /** Identifier of the request, text. */
      readonly id?: string | null
    } | null
    /** The counters that the time counts for, present only where counters are linked. */
    readonly counterDefinitions?: readonly ({
      /** Identifier of the counter definition; joins to counter_definitions.id. */
      readonly id?: number | null
      /** External references of the counter definition: reference name to value, the predefined @counter-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null)[] | null
    /** The shift that the time belongs to. Left out when the shift comes from the schedule of the person. Named by the earlier documentation only. */
    readonly shiftDefinition?: {
      /** Identifier of the shift definition; joins to shift_definitions.id. */
      readonly id?: number | null
    } | null
    /** How the duration came about. Known values: Unknown, Auto, Manual; the earliest documentation also lists Calendar, Default and Deleted (no longer valid, a delete); more may follow. */
    readonly status?: string | null
    /** Whether the duration has been authorized. */
    readonly isAuthorized?: boolean | null
    /** Time of day, in minutes since midnight of date. Part of the example record that the specification shares with clockings; the documentation has it for clockings only, so it is usually missing. */
    readonly timeOfDayInMinutes?: number | null
    /** Time of day after the calculation rules, in minutes since midnight of date. Part of the example record that the specification shares with clockings; the documentation has it for clockings only, so it is usually missing. */
    readonly calculatedTimeOfDayInMinutes?: number | null
    /** Whether the system made the record. Part of the example record that the specification shares with clockings; the documentation has it for clockings only, so it is usually missing. */
    readonly isGenerated?: boolean | null
    /** Kind of the record, for example InOut. Part of the example record that the specification shares with clockings; the documentation has it for clockings only, so it is usually missing. */
    readonly kind?: string | null
  }

  /** Planned work of one person over one period: working hours, break and activity. A tenant with another planning product of the vendor may have no access to this stream (403). */
  readonly 'assignments': {
    /** Identifier of the assignment, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** The person who is to work. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Start date of the assignment. The date filter of the service is tested against it. */
    readonly from?: string | null
    /** End date of the assignment; can be missing. */
    readonly until?: string | null
    /** Start of work, in minutes since midnight. The documentation allows -1440 to 2880: below 0 is the day before, above 1439 the day after. */
    readonly startTimeInMinutes?: number | null
    /** End of work, in minutes since midnight, counted as startTimeInMinutes is. */
    readonly endTimeInMinutes?: number | null
    /** Length of the break, in minutes. */
    readonly breakDurationInMinutes?: number | null
    /** Free text about the assignment; can name people: personal data. */
    readonly comments?: string | null
    /** The planned activity, level by level of the activity structure. An array with one object per level; where the service sends a single object in its place, it is an array of one. */
    readonly activityLevels?: readonly ({
      /** Number of the level in the activity structure of the tenant. */
      readonly level?: number | null
      /** The activity that was chosen at this level. */
      readonly activityDefinition?: {
        /** Identifier of the activity definition, a GUID as text; joins to activity_definitions.id. */
        readonly id?: string | null
        /** External references of the activity definition: reference name to value, the predefined @data-entry-code and @external-reference, and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
        readonly externalReferences?: Readonly<Record<string, unknown>> | null
      } | null
    } | null)[] | {
      /** Number of the level in the activity structure of the tenant. */
      readonly level?: number | null
      /** The activity that was chosen at this level. */
      readonly activityDefinition?: {
        /** Identifier of the activity definition, a GUID as text; joins to activity_definitions.id. */
        readonly id?: string | null
        /** External references of the activity definition: reference name to value, the predefined @data-entry-code and @external-reference, and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
        readonly externalReferences?: Readonly<Record<string, unknown>> | null
      } | null
    } | null | null
    /** Whether the assignment was rejected. Named by the current documentation only; can be missing. */
    readonly isRejected?: boolean | null
  }

  /** One kind of break, with its rules about length and pay. */
  readonly 'break-definitions': {
    /** Identifier of the break definition, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** Name of the kind of break, as a default text and in translations. */
    readonly name?: {
      /** Name for readers without a translation of their own. */
      readonly default?: string | null
      /** Name by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Name of the kind of break as it is shown to employees, as a default text and in translations. */
    readonly friendlyName?: {
      /** Friendly name for readers without a translation of their own. */
      readonly default?: string | null
      /** Friendly name by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Part of the break that is paid, in minutes. */
    readonly paidDurationInMinutes?: number | null
    /** Shortest length of the break, in minutes. */
    readonly minimumDurationInMinutes?: number | null
    /** Longest length of the break, in minutes. */
    readonly maximumDurationInMinutes?: number | null
    /** Length in minutes that is counted when no break was clocked. */
    readonly ifNotClockedDurationInMinutes?: number | null
    /** Whether the break must be taken in one piece. */
    readonly hasToBeTakenUninterrupted?: boolean | null
  }

  /** One break of one person on one day, as defined and as clocked. */
  readonly 'breaks': {
    /** Identifier of the break, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** The person whose break it is. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The kind of break. */
    readonly breakDefinition?: {
      /** Identifier of the break definition; joins to break_definitions.id. */
      readonly id?: number | null
    } | null
    /** Day of the break. */
    readonly date?: string | null
    /** Length of the break in minutes after the calculation rules. */
    readonly calculatedDurationInMinutes?: number | null
    /** Length of the break in minutes as it was really clocked. */
    readonly clockedDurationInMinutes?: number | null
    /** Earliest start that the definition allows, in minutes since midnight of date; not a clocked time. */
    readonly startTimeInMinutes?: number | null
    /** Latest end that the definition allows, in minutes since midnight of date; not a clocked time. */
    readonly endTimeInMinutes?: number | null
    /** Whether the break was taken. */
    readonly isBreakTaken?: boolean | null
  }

  /** The calculated result of one day of one person: one record per person and day. Changes whenever a clocking, an absence or a rule of that day changes. */
  readonly 'calculated-totals': {
    /** Identifier of the totals, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** The person whose day it is. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day of the totals. */
    readonly date?: string | null
    /** Scheduled time of the day, in minutes. */
    readonly normalTimeDurationInMinutes?: number | null
    /** Time that the person was present, in minutes. */
    readonly timePresentDurationInMinutes?: number | null
    /** Presence in minutes after the calculation rules. */
    readonly calculatedPresenceDurationInMinutes?: number | null
    /** Weekly hours 1, in minutes. What they count is set by the tenant. */
    readonly weeklyHours1DurationInMinutes?: number | null
    /** Weekly hours 2, in minutes. What they count is set by the tenant. */
    readonly weeklyHours2DurationInMinutes?: number | null
    /** Weekly hours 3, in minutes. What they count is set by the tenant. */
    readonly weeklyHours3DurationInMinutes?: number | null
    /** Hours of the pay period, in minutes. */
    readonly payPeriodHoursDurationInMinutes?: number | null
    /** Flexible time gained or lost on that day, in minutes. */
    readonly flextimeDurationInMinutes?: number | null
    /** Balance of flexible time after that day, in minutes. Can be negative. */
    readonly flextimeBalanceInMinutes?: number | null
    /** The final shift of the day. */
    readonly shiftDefinition?: {
      /** Identifier of the shift definition; joins to shift_definitions.id. */
      readonly id?: number | null
      /** External references of the shift definition: reference name to value, the predefined @shift-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
  }

  /** One clocking of one person: in or out, a reason, or the start or end of an activity. A clocking that was deleted by hand stays as a record with the status Deleted; it is treated as a delete. */
  readonly 'clockings': {
    /** Identifier of the clocking, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** The person who clocked. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day that the clocking counts for; night work can clock on the calendar day before or after, see timeOfDayInMinutes. */
    readonly date?: string | null
    /** Time of the clocking, in minutes since midnight of date. The documentation allows -1440 to 2880 (below 0 is the day before, above 1439 the day after), the specification 0 to 1439. */
    readonly timeOfDayInMinutes?: number | null
    /** Time before the clocking was edited, in minutes since midnight of date; present only after an edit. */
    readonly originalTimeOfDayInMinutes?: number | null
    /** Time after corrections, in minutes since midnight of date. */
    readonly calculatedTimeOfDayInMinutes?: number | null
    /** Whether the system made the clocking instead of the person. */
    readonly isGenerated?: boolean | null
    /** The terminal at which the person clocked. The service offers no list of terminals. */
    readonly terminal?: {
      /** Identifier of the terminal. */
      readonly id?: number | null
      /** External references of the terminal: reference name to value, the predefined @external-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Where the person clocked. Location of a person: sensitive personal data. */
    readonly geolocation?: {
      /** Longitude in degrees. Location of a person: sensitive personal data. A number; the earlier documentation shows text, so both are accepted. */
      readonly longitude?: number | string | null
      /** Latitude in degrees. Location of a person: sensitive personal data. A number; the earlier documentation shows text, so both are accepted. */
      readonly latitude?: number | string | null
    } | null
    /** What the clocking says. Known values: InOut, Reason, Activity, ActivityEnd; the specification also uses Absence as a filter value; more may follow. */
    readonly kind?: string | null
    /** The reason that was clocked, only with kind Reason. It can reveal health information: sensitive personal data. */
    readonly reason?: {
      /** Identifier of the reason; joins to absence_definitions.id (concluded, not documented). */
      readonly id?: number | null
      /** External references of the absence definition: reference name to value, the predefined @absence-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Whether the reason is still open, only with kind Reason. Listed for lists and single records; can be missing in changes. */
    readonly isOpen?: boolean | null
    /** The activity that was clocked, level by level of the activity structure, only with kind Activity. An array with one object per level; where the service sends a single object in its place, it is an array of one. */
    readonly activityLevels?: readonly ({
      /** Number of the level in the activity structure of the tenant. */
      readonly level?: number | null
      /** The activity that was chosen at this level. */
      readonly activityDefinition?: {
        /** Identifier of the activity definition, a GUID as text; joins to activity_definitions.id. */
        readonly id?: string | null
        /** External references of the activity definition: reference name to value, the predefined @data-entry-code and @external-reference, and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
        readonly externalReferences?: Readonly<Record<string, unknown>> | null
      } | null
    } | null)[] | null
    /** Whether the clocking counts. Known values: Unknown, Active, Deleted (deleted by hand); more may follow. */
    readonly status?: string | null
  }

  /** One employment contract of one person, or one addendum to a contract, with the agreed working time. Personal data. */
  readonly 'contracts': {
    /** Identifier of the contract, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** The person whose contract it is. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Code of the contract. */
    readonly code?: string | null
    /** Start of validity. The vendor does not state the format, so it is plain text; expect a date such as 2026-01-01. */
    readonly from?: string | null
    /** End of validity; missing or null where none is set. The vendor does not state the format, so it is plain text. */
    readonly until?: string | null
    /** Agreed working time, in minutes. */
    readonly contractHoursInMinutes?: number | null
    /** Working time of a full-time contract, in minutes. */
    readonly fullTimeEquivalentInMinutes?: number | null
    /** Agreed working time as a percentage. */
    readonly contractPercentage?: number | null
    /** Working days a week. The current documentation says integer, the earlier one number, so fractions are possible. */
    readonly numberOfWorkingDaysPerWeek?: number | null
    /** Number of days in the period of the contract. */
    readonly numberOfDaysInContractPeriod?: number | null
    /** Whether this is a contract of its own or a change to one. Known values: Contract, Addendum; more may follow. */
    readonly kind?: string | null
    /** The contract that an addendum belongs to; missing on contracts. */
    readonly parentContract?: {
      /** Identifier of the parent; joins to contracts.id. */
      readonly id?: number | null
      /** External references of the parent contract: reference name to value, custom names only. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** External references of the contract: reference name to value, custom names only. Present only for the references that the configuration asks for, and only where a value exists. */
    readonly externalReferences?: Readonly<Record<string, unknown>> | null
  }

  /** One kind of counter, such as overtime, a night bonus or a meal voucher. */
  readonly 'counter-definitions': {
    /** Identifier of the counter definition, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** Name of the counter, as a default text and in translations. */
    readonly name?: {
      /** Name for readers without a translation of their own. */
      readonly default?: string | null
      /** Name by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Code of the counter, unique in the tenant; the value of the external reference @counter-code. */
    readonly code?: string | null
    /** Name of the counter as it is shown to employees, as a default text and in translations. */
    readonly friendlyName?: {
      /** Friendly name for readers without a translation of their own. */
      readonly default?: string | null
      /** Friendly name by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Short code of the counter as it is shown to employees, as a default text and in translations. */
    readonly friendlyCode?: {
      /** Friendly code for readers without a translation of their own. */
      readonly default?: string | null
      /** Friendly code by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Whether the counter is in use. */
    readonly isEnabled?: boolean | null
    /** The group that the counter belongs to. */
    readonly counterGroup?: {
      /** Identifier of the counter group; joins to counter_groups.id. */
      readonly id?: number | null
      /** External references of the counter group: reference name to value, custom names only. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** What the counter counts. Known values: Unknown, Interval (from a start to an end), Duration (minutes), Instance (how often); more may follow. */
    readonly unit?: string | null
    /** External references of the counter definition: reference name to value, the predefined @counter-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
    readonly externalReferences?: Readonly<Record<string, unknown>> | null
  }

  /** One group of counter definitions. Saving one group in the product saves all of them, so a sync can bring every group again although nothing changed. */
  readonly 'counter-groups': {
    /** Identifier of the counter group, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** Name of the group, as a default text and in translations. */
    readonly name?: {
      /** Name for readers without a translation of their own. */
      readonly default?: string | null
      /** Name by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
  }

  /** One counter of one person on one date: a duration, an interval or a number of occurrences, as the counter definition says. Often the input of payroll. Personal data. */
  readonly 'counters': {
    /** Identifier of the counter, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** The shift that the counter belongs to. Left out when the shift comes from the schedule of the person. */
    readonly shiftDefinition?: {
      /** Identifier of the shift definition; joins to shift_definitions.id. */
      readonly id?: number | null
      /** External references of the shift definition: reference name to value, the predefined @shift-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** How often the counter occurred; for counters of the unit Instance. */
    readonly numberOfInstances?: number | null
    /** The request that led to the counter, present only where it was requested. */
    readonly request?: {
      /** Identifier of the request, text. */
      readonly id?: string | null
    } | null
    /** How the counter came about. Known values: Unknown, Auto, Manual, Calendar; more may follow. */
    readonly status?: string | null
    /** Whether the counter has been authorized. */
    readonly isAuthorized?: boolean | null
    /** The person whose counter it is. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Kind of period that the counter is kept for. Known values: Unknown, Day, Week, PayPeriod; more may follow. */
    readonly periodType?: string | null
    /** The kind of counter. */
    readonly counterDefinition?: {
      /** Identifier of the counter definition; joins to counter_definitions.id. */
      readonly id?: number | null
      /** External references of the counter definition: reference name to value, the predefined @counter-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Date of the counter. */
    readonly date?: string | null
    /** Start, in minutes since midnight of date; for counters of the unit Interval. */
    readonly startTimeInMinutes?: number | null
    /** End, in minutes since midnight of date; for counters of the unit Interval. */
    readonly endTimeInMinutes?: number | null
    /** Length, in minutes. */
    readonly durationInMinutes?: number | null
  }

  /** One piece of paid time of one person on one day. Several records for the same person and day are normal: identify a record by id only. Personal data. */
  readonly 'paid-presences': {
    /** Identifier of the paid presence, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** The person who is paid for the time. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day of the paid time. */
    readonly date?: string | null
    /** Paid time, in minutes. */
    readonly durationInMinutes?: number | null
    /** The shift that the time belongs to. Left out when no shift is assigned. */
    readonly shiftDefinition?: {
      /** Identifier of the shift definition; joins to shift_definitions.id. */
      readonly id?: number | null
      /** External references of the shift definition: reference name to value, the predefined @shift-code and custom names. Present only for the references that the configuration asks for, and only where a value exists. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
  }

  /** One person of the tenant with personal, pay and badge data. The service can send more fields than are documented; they are passed on. Sensitive personal data throughout: deselect the columns that you do not need. */
  readonly 'people': {
    /** Identifier of the person, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** Date up to which the calendar of the person is locked. */
    readonly periodClosingDate?: string | null
    /** The currency of hourlyRate. */
    readonly hourlyRateCurrencyDefinition?: {
      /** Identifier of the currency definition; no stream lists them. */
      readonly id?: number | null
    } | null
    /** The currency of maxAdvance. */
    readonly advanceCurrencyDefinition?: {
      /** Identifier of the currency definition; no stream lists them. */
      readonly id?: number | null
    } | null
    /** Family name. Personal data. */
    readonly lastName?: string | null
    /** Given name. Personal data. */
    readonly firstName?: string | null
    /** Initials. Personal data. */
    readonly initials?: string | null
    /** Telephone number. Personal data. */
    readonly telephone?: string | null
    /** Mobile number. Personal data. */
    readonly mobile?: string | null
    /** E-mail address. Personal data. */
    readonly email?: string | null
    /** Street and number of the home address. Personal data. */
    readonly address?: string | null
    /** Postal code of the home address, as text. Personal data. */
    readonly postalCode?: string | null
    /** Town of the home address. Personal data. */
    readonly town?: string | null
    /** Country of the home address, as an ISO code. The earlier documentation spells the field countryIsoCode. Personal data. */
    readonly countryISOCode?: string | null
    /** Country of the home address, as an ISO code. Spelling of the earlier documentation; holds the value where countryISOCode is missing. Personal data. */
    readonly countryIsoCode?: string | null
    /** Nationality, as an ISO country code. The earlier documentation spells the field nationalityIsoCode. Personal data. */
    readonly nationalityISOCode?: string | null
    /** Nationality, as an ISO country code. Spelling of the earlier documentation; holds the value where nationalityISOCode is missing. Personal data. */
    readonly nationalityIsoCode?: string | null
    /** Sex. Known values: Unknown, Female, Male, Other; more may follow. Sensitive personal data. */
    readonly sex?: string | null
    /** Marital status. Known values: Unknown, Single, Married, Widow, Widower, Divorced, LivingTogether; more may follow. Sensitive personal data. */
    readonly maritalStatus?: string | null
    /** Date of birth. Personal data. */
    readonly birthDate?: string | null
    /** Place of birth. Personal data. */
    readonly placeOfBirth?: string | null
    /** Driving licence. Personal data. */
    readonly drivingLicense?: string | null
    /** Register number; the vendor does not say of which register. Personal data. */
    readonly registerNumber?: string | null
    /** Passport number. Sensitive personal data. */
    readonly passportNumber?: string | null
    /** Social security number. Sensitive personal data. */
    readonly socialSecurityNumber?: string | null
    /** Bank account of the person. Sensitive personal data. */
    readonly bankAccount?: string | null
    /** First day of employment. */
    readonly inServiceDate?: string | null
    /** End of employment; empty while no end is known. */
    readonly outOfServiceDate?: string | null
    /** Start date that the service calls wtd; the vendor does not explain it. */
    readonly wtdStartDate?: string | null
    /** Number of the employee, as text; the value of the external reference @employee-number. Personal data. */
    readonly employeeNumber?: string | null
    /** Pay group. */
    readonly payGroup?: string | null
    /** Pay an hour, in the currency of hourlyRateCurrencyDefinition. Sensitive personal data. */
    readonly hourlyRate?: number | null
    /** Highest advance on pay, in the currency of advanceCurrencyDefinition. Sensitive personal data. */
    readonly maxAdvance?: number | null
    /** The group of terminals of the person. */
    readonly terminalGroup?: {
      /** Identifier of the terminal group; no stream lists them. */
      readonly id?: number | null
    } | null
    /** Number of the badge, unique; the value of the external reference @badge-number. Personal data. */
    readonly badgeNumber?: string | null
    /** Pin code of the person, secret: whoever reads it may be able to act as the person. Deselect it unless you need it. A number, so leading zeros are lost. */
    readonly pinCode?: number | null
    /** Language that terminals speak to the person, as an ISO code. */
    readonly terminalLanguageISOCode?: string | null
    /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
    readonly externalReferences?: Readonly<Record<string, unknown>> | null
  }

  /** One shift that people can be scheduled for, such as a day or a night shift. */
  readonly 'shift-definitions': {
    /** Identifier of the shift definition, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** Name of the shift, as a default text and in translations. */
    readonly name?: {
      /** Name for readers without a translation of their own. */
      readonly default?: string | null
      /** Name by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Code of the shift, unique in the tenant; the value of the external reference @shift-code. */
    readonly code?: string | null
    /** Name of the shift as it is shown to employees, as a default text and in translations. */
    readonly friendlyName?: {
      /** Friendly name for readers without a translation of their own. */
      readonly default?: string | null
      /** Friendly name by language: language code (nl) or culture code (nl-BE) to text. Languages without a translation are left out. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Whether the shift is in use. */
    readonly isEnabled?: boolean | null
  }

  /** One interruption of the work of one person on one day. Personal data. */
  readonly 'work-interruptions': {
    /** Identifier of the interruption, given by the service; the primary key. */
    readonly id: number
    /** Order of the versions of this record: of two versions, the one with the greater changeVersion, compared as a string, is the newer. Orders the versions of one record; do not use it to order different records in time. */
    readonly changeVersion?: string | null
    /** The person whose work was interrupted. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: reference name to value, predefined names such as @employee-number and @badge-number, and custom ones. Present only for the references that the configuration asks for, and only where a value exists. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day of the interruption. */
    readonly date?: string | null
    /** Length of the interruption, in minutes. */
    readonly durationInMinutes?: number | null
    /** Start, in minutes since midnight of date. */
    readonly startTimeInMinutes?: number | null
    /** End, in minutes since midnight of date. */
    readonly endTimeInMinutes?: number | null
  }
}
