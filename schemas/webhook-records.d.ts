// Made by `npm run docs` from the schemas beside it.

/**
 * The records that webhooks send, by the service's name of their collection. Any member but `id` can be missing,
 * and there can be others that are not documented.
 */
export interface Records {
  /** One kind of absence, such as holiday, illness or remote work. */
  readonly 'absence-definitions': {
    /** Identifier of the absence definition, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** Name of the kind of absence, with a default text and translations. */
    readonly name?: {
      /** Name for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the name, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Code of the kind of absence, unique within the tenant; the value of the external reference @absence-code. */
    readonly code?: string | null
    /** Name of the kind of absence as employees see it, with a default text and translations. */
    readonly friendlyName?: {
      /** Friendly name for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the friendly name, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Short code of the kind of absence as employees see it, with a default text and translations. */
    readonly friendlyCode?: {
      /** Friendly code for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the friendly code, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Durations for which an absence of this kind can be requested. */
    readonly allowedDurations?: readonly (string | null)[] | null
    /** Whether the kind of absence is in use. */
    readonly isEnabled?: boolean | null
    /** Whether employees can choose it as the reason for a clocking (clockings.reason). */
    readonly isReasonForClocking?: boolean | null
    /** The group that the kind of absence belongs to. */
    readonly absenceGroup?: {
      /** Identifier of the absence group; joins to absence_groups.id. */
      readonly id?: number | null
      /** External references of the absence group: values by the name of the reference, for custom references only. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
  }

  /** One group of absence definitions. Saving one group in the product saves all of them, so a sync may send all groups again although nothing has changed. */
  readonly 'absence-groups': {
    /** Identifier of the absence group, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** Name of the group, with a default text and translations. */
    readonly name?: {
      /** Name for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the name, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** What absences of this group mean. Known values: Unknown, Absence, WorkingElsewhere (work at another place, not time off); the service may add others. */
    readonly type?: string | null
  }

  /** One absence of one person on one day, requested, planned or calculated. Absences may be in the future. An absence of several days consists of several records. The kind of absence can reveal health information: sensitive personal data. */
  readonly 'absences': {
    /** Identifier of the absence, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** The person who is absent. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The kind of absence that results from the calculation; it may differ from the requested one. */
    readonly resultingAbsenceDefinition?: {
      /** Identifier of the absence definition; joins to absence_definitions.id. */
      readonly id?: number | null
      /** External references of the absence definition: values by the name of the reference, for the predefined @absence-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The requested kind of absence; the calculation can change it: see resultingAbsenceDefinition. */
    readonly requestedAbsenceDefinition?: {
      /** Identifier of the absence definition; joins to absence_definitions.id. */
      readonly id?: number | null
      /** External references of the absence definition: values by the name of the reference, for the predefined @absence-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The shift that the absence belongs to. Missing if the shift comes from the person's schedule. */
    readonly shiftDefinition?: {
      /** Identifier of the shift definition; joins to shift_definitions.id. */
      readonly id?: number | null
      /** External references of the shift definition: values by the name of the reference, for the predefined @shift-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day of the absence. */
    readonly date?: string | null
    /** Start of the absence, in minutes since midnight of date. */
    readonly startTimeInMinutes?: number | null
    /** Length of the absence in minutes, as entered. */
    readonly durationInMinutes?: number | null
    /** Length of the absence after the calculation rules, in minutes. */
    readonly calculatedDurationInMinutes?: number | null
    /** Half of the day that the absence covers. Known values: Unknown, First, Second; the service may add others. */
    readonly dayPart?: string | null
    /** The request for the absence, if there was one. */
    readonly request?: {
      /** Identifier of the request: a text of the form {TenantId}-{PersonId}-{RequestId}, not a number. It contains the identifier of the person. */
      readonly id?: string | null
    } | null
    /** How the absence was created. Known values: Unknown, Manual, Auto, BeginOpen, Open, Terminal, Calendar; the service may add others. */
    readonly status?: string | null
    /** State of the approval. Known values: Unknown, AwaitingApproval, Approved, NotApproved, NotApprovedByPriorities, NotApprovedByCalculations; the service may add others. */
    readonly approvalLevel?: string | null
    /** Whether the absence is locked against changes. */
    readonly isLocked?: boolean | null
    /** Kind of period for which the absence is recorded. Known values: Unknown, Day, Week, PayPeriod; the service may add others. */
    readonly periodType?: string | null
  }

  /** One badge reading at an access terminal, allowed or refused. It is for access control; for worked time see clockings. Shows where a person was and when: personal data. */
  readonly 'access-clockings': {
    /** Identifier of the access clocking, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** The person whose badge was read. May be missing while the badge is unknown. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day of the reading. */
    readonly date?: string | null
    /** Time of the reading, in minutes since midnight of date; always on the same calendar day. */
    readonly timeOfDayInMinutes?: number | null
    /** The access terminal. The service offers no list of terminals. */
    readonly terminal?: {
      /** Identifier of the terminal. */
      readonly id?: number | null
      /** External references of the terminal: values by the name of the reference, for the predefined @external-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Result of the reading. Known values: AccessOk, AccessRefused, WrongPinCode, AlarmCode, AntiPassbackError, OutZone, UnknownBadgeNumber (UnknownBadge in the earlier documentation); the service may add others. An unknown badge may be assigned to a person later; the status does not change then. */
    readonly status?: string | null
  }

  /** Time that one person spent on one activity on one day. A record with the status Deleted is treated as a delete. */
  readonly 'activity-durations': {
    /** Identifier of the activity duration, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. The current documentation does not list the field, so it may be missing; then the version that was received last is the newest. */
    readonly changeVersion?: string | null
    /** The person who did the work. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day on which the work was done. */
    readonly date?: string | null
    /** Time spent, in minutes. */
    readonly durationInMinutes?: number | null
    /** The activity, by level of the activity structure. An array with one object per level; if the service sends a single object instead, the connector passes on an array with this object. */
    readonly activityLevels?: readonly ({
      /** Number of the level in the activity structure of the tenant. */
      readonly level?: number | null
      /** The activity that was chosen at this level. */
      readonly activityDefinition?: {
        /** Identifier of the activity definition, a GUID as text; joins to activity_definitions.id. */
        readonly id?: string | null
        /** External references of the activity definition: values by the name of the reference, for the predefined @data-entry-code and @external-reference and for custom references. Contains only references that the configuration requests and that have a value. */
        readonly externalReferences?: Readonly<Record<string, unknown>> | null
      } | null
    } | null)[] | null
    /** The kind of absence; present only if an absence is linked. It can reveal health information: sensitive personal data. */
    readonly absenceDefinition?: {
      /** Identifier of the absence definition; joins to absence_definitions.id. */
      readonly id?: number | null
      /** External references of the absence definition: values by the name of the reference, for the predefined @absence-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The request for the duration; present only if there was one. */
    readonly request?: {
      /** Identifier of the request, as text. */
      readonly id?: string | null
    } | null
    /** The counters to which the time is added; present only if counters are linked. */
    readonly counterDefinitions?: readonly ({
      /** Identifier of the counter definition; joins to counter_definitions.id. */
      readonly id?: number | null
      /** External references of the counter definition: values by the name of the reference, for the predefined @counter-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null)[] | null
    /** The shift that the time belongs to. Missing if the shift comes from the person's schedule. Only in the earlier documentation. */
    readonly shiftDefinition?: {
      /** Identifier of the shift definition; joins to shift_definitions.id. */
      readonly id?: number | null
    } | null
    /** How the duration was created. Known values: Unknown, Auto, Manual; the earliest documentation also lists Calendar, Default and Deleted (no longer valid: a delete); the service may add others. */
    readonly status?: string | null
    /** Whether the duration has been authorized. */
    readonly isAuthorized?: boolean | null
    /** Time of day, in minutes since midnight of date. Part of the specification's example record, which is the same as for clockings; the documentation has the field only for clockings, so it is usually missing. */
    readonly timeOfDayInMinutes?: number | null
    /** Time of day after the calculation rules, in minutes since midnight of date. Part of the specification's example record, which is the same as for clockings; the documentation has the field only for clockings, so it is usually missing. */
    readonly calculatedTimeOfDayInMinutes?: number | null
    /** Whether the system created the record. Part of the specification's example record, which is the same as for clockings; the documentation has the field only for clockings, so it is usually missing. */
    readonly isGenerated?: boolean | null
    /** Kind of the record, for example InOut. Part of the specification's example record, which is the same as for clockings; the documentation has the field only for clockings, so it is usually missing. */
    readonly kind?: string | null
  }

  /** Planned work of one person in one period: working hours, break and activity. A tenant that uses another planning product of the vendor may have no access to this stream (403). */
  readonly 'assignments': {
    /** Identifier of the assignment, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** The person who is planned to work. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Start date of the assignment. The date filter of the service applies to it. */
    readonly from?: string | null
    /** End date of the assignment; may be missing. */
    readonly until?: string | null
    /** Start of work, in minutes since midnight. The documentation allows -1440 to 2880: below 0 is the day before, above 1439 the day after. */
    readonly startTimeInMinutes?: number | null
    /** End of work, in minutes since midnight, with the same range as startTimeInMinutes. */
    readonly endTimeInMinutes?: number | null
    /** Length of the break, in minutes. */
    readonly breakDurationInMinutes?: number | null
    /** Free text about the assignment; may name people: personal data. */
    readonly comments?: string | null
    /** The planned activity, by level of the activity structure. An array with one object per level; if the service sends a single object instead, the connector passes on an array with this object. */
    readonly activityLevels?: readonly ({
      /** Number of the level in the activity structure of the tenant. */
      readonly level?: number | null
      /** The activity that was chosen at this level. */
      readonly activityDefinition?: {
        /** Identifier of the activity definition, a GUID as text; joins to activity_definitions.id. */
        readonly id?: string | null
        /** External references of the activity definition: values by the name of the reference, for the predefined @data-entry-code and @external-reference and for custom references. Contains only references that the configuration requests and that have a value. */
        readonly externalReferences?: Readonly<Record<string, unknown>> | null
      } | null
    } | null)[] | {
      /** Number of the level in the activity structure of the tenant. */
      readonly level?: number | null
      /** The activity that was chosen at this level. */
      readonly activityDefinition?: {
        /** Identifier of the activity definition, a GUID as text; joins to activity_definitions.id. */
        readonly id?: string | null
        /** External references of the activity definition: values by the name of the reference, for the predefined @data-entry-code and @external-reference and for custom references. Contains only references that the configuration requests and that have a value. */
        readonly externalReferences?: Readonly<Record<string, unknown>> | null
      } | null
    } | null | null
    /** Whether the assignment was rejected. Only in the current documentation; may be missing. */
    readonly isRejected?: boolean | null
  }

  /** One kind of break, with its rules about length and pay. */
  readonly 'break-definitions': {
    /** Identifier of the break definition, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** Name of the kind of break, with a default text and translations. */
    readonly name?: {
      /** Name for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the name, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Name of the kind of break as employees see it, with a default text and translations. */
    readonly friendlyName?: {
      /** Friendly name for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the friendly name, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Paid part of the break, in minutes. */
    readonly paidDurationInMinutes?: number | null
    /** Minimum length of the break, in minutes. */
    readonly minimumDurationInMinutes?: number | null
    /** Maximum length of the break, in minutes. */
    readonly maximumDurationInMinutes?: number | null
    /** Length that is counted if no break was clocked, in minutes. */
    readonly ifNotClockedDurationInMinutes?: number | null
    /** Whether the break must be taken in one piece. */
    readonly hasToBeTakenUninterrupted?: boolean | null
  }

  /** One break of one person on one day, as defined and as clocked. */
  readonly 'breaks': {
    /** Identifier of the break, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** The person who takes the break. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The kind of break. */
    readonly breakDefinition?: {
      /** Identifier of the break definition; joins to break_definitions.id. */
      readonly id?: number | null
    } | null
    /** Day of the break. */
    readonly date?: string | null
    /** Length of the break after the calculation rules, in minutes. */
    readonly calculatedDurationInMinutes?: number | null
    /** Length of the break as it was clocked, in minutes. */
    readonly clockedDurationInMinutes?: number | null
    /** Earliest start according to the definition, in minutes since midnight of date; not a clocked time. */
    readonly startTimeInMinutes?: number | null
    /** Latest end according to the definition, in minutes since midnight of date; not a clocked time. */
    readonly endTimeInMinutes?: number | null
    /** Whether the break was taken. */
    readonly isBreakTaken?: boolean | null
  }

  /** The calculated totals of one person on one day: one record per person and day. It changes whenever a clocking, an absence or a rule for that day changes. */
  readonly 'calculated-totals': {
    /** Identifier of the totals, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** The person whose totals these are. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day of the totals. */
    readonly date?: string | null
    /** Scheduled time of the day, in minutes. */
    readonly normalTimeDurationInMinutes?: number | null
    /** Time for which the person was present, in minutes. */
    readonly timePresentDurationInMinutes?: number | null
    /** Presence after the calculation rules, in minutes. */
    readonly calculatedPresenceDurationInMinutes?: number | null
    /** Weekly hours 1, in minutes. The tenant decides what they count. */
    readonly weeklyHours1DurationInMinutes?: number | null
    /** Weekly hours 2, in minutes. The tenant decides what they count. */
    readonly weeklyHours2DurationInMinutes?: number | null
    /** Weekly hours 3, in minutes. The tenant decides what they count. */
    readonly weeklyHours3DurationInMinutes?: number | null
    /** Hours of the pay period, in minutes. */
    readonly payPeriodHoursDurationInMinutes?: number | null
    /** Flexible time gained or lost on that day, in minutes. */
    readonly flextimeDurationInMinutes?: number | null
    /** Balance of flexible time after that day, in minutes. May be negative. */
    readonly flextimeBalanceInMinutes?: number | null
    /** The final shift of the day. */
    readonly shiftDefinition?: {
      /** Identifier of the shift definition; joins to shift_definitions.id. */
      readonly id?: number | null
      /** External references of the shift definition: values by the name of the reference, for the predefined @shift-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
  }

  /** One clocking of one person: in or out, a reason, or the start or end of an activity. A clocking that was deleted manually remains a record with the status Deleted; it is treated as a delete. */
  readonly 'clockings': {
    /** Identifier of the clocking, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** The person who clocked. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day that the clocking belongs to. At night it may be on the calendar day before or after: see timeOfDayInMinutes. */
    readonly date?: string | null
    /** Time of the clocking, in minutes since midnight of date. The documentation allows -1440 to 2880 (below 0 is the day before, above 1439 the day after), the specification 0 to 1439. */
    readonly timeOfDayInMinutes?: number | null
    /** Time before the clocking was edited, in minutes since midnight of date; present only after an edit. */
    readonly originalTimeOfDayInMinutes?: number | null
    /** Time after corrections, in minutes since midnight of date. */
    readonly calculatedTimeOfDayInMinutes?: number | null
    /** Whether the system created the clocking instead of the person. */
    readonly isGenerated?: boolean | null
    /** The terminal at which the person clocked. The service offers no list of terminals. */
    readonly terminal?: {
      /** Identifier of the terminal. */
      readonly id?: number | null
      /** External references of the terminal: values by the name of the reference, for the predefined @external-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Where the person clocked. Location of a person: sensitive personal data. */
    readonly geolocation?: {
      /** Longitude in degrees. Location of a person: sensitive personal data. A number; the earlier documentation shows a text, so both are accepted. */
      readonly longitude?: number | string | null
      /** Latitude in degrees. Location of a person: sensitive personal data. A number; the earlier documentation shows a text, so both are accepted. */
      readonly latitude?: number | string | null
    } | null
    /** Kind of the clocking. Known values: InOut, Reason, Activity, ActivityEnd; the specification also uses Absence as a filter value; the service may add others. */
    readonly kind?: string | null
    /** The reason that was clocked; only with kind Reason. It can reveal health information: sensitive personal data. */
    readonly reason?: {
      /** Identifier of the reason; joins to absence_definitions.id (this is inferred, not documented). */
      readonly id?: number | null
      /** External references of the absence definition: values by the name of the reference, for the predefined @absence-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Whether the reason is still open; only with kind Reason. Documented for lists and single records; may be missing in changes. */
    readonly isOpen?: boolean | null
    /** The activity that was clocked, by level of the activity structure; only with kind Activity. An array with one object per level; if the service sends a single object instead, the connector passes on an array with this object. */
    readonly activityLevels?: readonly ({
      /** Number of the level in the activity structure of the tenant. */
      readonly level?: number | null
      /** The activity that was chosen at this level. */
      readonly activityDefinition?: {
        /** Identifier of the activity definition, a GUID as text; joins to activity_definitions.id. */
        readonly id?: string | null
        /** External references of the activity definition: values by the name of the reference, for the predefined @data-entry-code and @external-reference and for custom references. Contains only references that the configuration requests and that have a value. */
        readonly externalReferences?: Readonly<Record<string, unknown>> | null
      } | null
    } | null)[] | null
    /** Whether the clocking counts. Known values: Unknown, Active, Deleted (deleted manually); the service may add others. */
    readonly status?: string | null
  }

  /** One employment contract of one person, or an addendum to it, with the agreed working time. Personal data. */
  readonly 'contracts': {
    /** Identifier of the contract, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** The person to whom the contract belongs. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Code of the contract. */
    readonly code?: string | null
    /** Start of validity. The vendor does not document the format, so it is a plain text; expect a date such as 2026-01-01. */
    readonly from?: string | null
    /** End of validity; missing or null if there is none. The vendor does not document the format, so it is a plain text. */
    readonly until?: string | null
    /** Agreed working time, in minutes. */
    readonly contractHoursInMinutes?: number | null
    /** Working time of a full-time contract, in minutes. */
    readonly fullTimeEquivalentInMinutes?: number | null
    /** Agreed working time as a percentage. */
    readonly contractPercentage?: number | null
    /** Working days per week. It is an integer in the current documentation and a number in the earlier one, so fractions are possible. */
    readonly numberOfWorkingDaysPerWeek?: number | null
    /** Number of days in the period of the contract. */
    readonly numberOfDaysInContractPeriod?: number | null
    /** Whether this is a contract or an addendum to one. Known values: Contract, Addendum; the service may add others. */
    readonly kind?: string | null
    /** The contract that an addendum belongs to; missing in contracts. */
    readonly parentContract?: {
      /** Identifier of the parent; joins to contracts.id. */
      readonly id?: number | null
      /** External references of the parent contract: values by the name of the reference, for custom references only. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** External references of the contract: values by the name of the reference, for custom references only. Contains only references that the configuration requests and that have a value. */
    readonly externalReferences?: Readonly<Record<string, unknown>> | null
  }

  /** One kind of counter, such as overtime, a night bonus or a meal voucher. */
  readonly 'counter-definitions': {
    /** Identifier of the counter definition, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** Name of the counter, with a default text and translations. */
    readonly name?: {
      /** Name for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the name, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Code of the counter, unique within the tenant; the value of the external reference @counter-code. */
    readonly code?: string | null
    /** Name of the counter as employees see it, with a default text and translations. */
    readonly friendlyName?: {
      /** Friendly name for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the friendly name, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Short code of the counter as employees see it, with a default text and translations. */
    readonly friendlyCode?: {
      /** Friendly code for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the friendly code, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Whether the counter is in use. */
    readonly isEnabled?: boolean | null
    /** The group that the counter belongs to. */
    readonly counterGroup?: {
      /** Identifier of the counter group; joins to counter_groups.id. */
      readonly id?: number | null
      /** External references of the counter group: values by the name of the reference, for custom references only. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** What the counter measures. Known values: Unknown, Interval (from a start to an end), Duration (in minutes), Instance (number of occurrences); the service may add others. */
    readonly unit?: string | null
    /** External references of the counter definition: values by the name of the reference, for the predefined @counter-code and for custom references. Contains only references that the configuration requests and that have a value. */
    readonly externalReferences?: Readonly<Record<string, unknown>> | null
  }

  /** One group of counter definitions. Saving one group in the product saves all of them, so a sync may send all groups again although nothing has changed. */
  readonly 'counter-groups': {
    /** Identifier of the counter group, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** Name of the group, with a default text and translations. */
    readonly name?: {
      /** Name for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the name, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
  }

  /** One counter of one person on one date: a duration, an interval or a number of occurrences, depending on the counter definition. Often used for payroll. Personal data. */
  readonly 'counters': {
    /** Identifier of the counter, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** The shift that the counter belongs to. Missing if the shift comes from the person's schedule. */
    readonly shiftDefinition?: {
      /** Identifier of the shift definition; joins to shift_definitions.id. */
      readonly id?: number | null
      /** External references of the shift definition: values by the name of the reference, for the predefined @shift-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** The number of occurrences; for counters with the unit Instance. */
    readonly numberOfInstances?: number | null
    /** The request for the counter; present only if there was one. */
    readonly request?: {
      /** Identifier of the request, as text. */
      readonly id?: string | null
    } | null
    /** How the counter was created. Known values: Unknown, Auto, Manual, Calendar; the service may add others. */
    readonly status?: string | null
    /** Whether the counter has been authorized. */
    readonly isAuthorized?: boolean | null
    /** The person to whom the counter belongs. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Kind of period for which the counter is recorded. Known values: Unknown, Day, Week, PayPeriod; the service may add others. */
    readonly periodType?: string | null
    /** The kind of counter. */
    readonly counterDefinition?: {
      /** Identifier of the counter definition; joins to counter_definitions.id. */
      readonly id?: number | null
      /** External references of the counter definition: values by the name of the reference, for the predefined @counter-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Date of the counter. */
    readonly date?: string | null
    /** Start, in minutes since midnight of date; for counters with the unit Interval. */
    readonly startTimeInMinutes?: number | null
    /** End, in minutes since midnight of date; for counters with the unit Interval. */
    readonly endTimeInMinutes?: number | null
    /** Length, in minutes. */
    readonly durationInMinutes?: number | null
  }

  /** A period of paid time of one person on one day. A person may have several records on a day: identify a record by its id only. Personal data. */
  readonly 'paid-presences': {
    /** Identifier of the paid presence, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** The person who is paid for the time. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
    /** Day of the paid time. */
    readonly date?: string | null
    /** Paid time, in minutes. */
    readonly durationInMinutes?: number | null
    /** The shift that the time belongs to. Missing if no shift is assigned. */
    readonly shiftDefinition?: {
      /** Identifier of the shift definition; joins to shift_definitions.id. */
      readonly id?: number | null
      /** External references of the shift definition: values by the name of the reference, for the predefined @shift-code and for custom references. Contains only references that the configuration requests and that have a value. */
      readonly externalReferences?: Readonly<Record<string, unknown>> | null
    } | null
  }

  /** One person of the tenant, with personal, pay and badge data. The service may send undocumented fields, which are passed on. Sensitive personal data: deselect the columns that you do not need. */
  readonly 'people': {
    /** Identifier of the person, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** Date up to which the calendar of the person is locked. */
    readonly periodClosingDate?: string | null
    /** The currency of hourlyRate. */
    readonly hourlyRateCurrencyDefinition?: {
      /** Identifier of the currency definition, for which there is no stream. */
      readonly id?: number | null
    } | null
    /** The currency of maxAdvance. */
    readonly advanceCurrencyDefinition?: {
      /** Identifier of the currency definition, for which there is no stream. */
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
    /** Country of the home address, as an ISO code. In the earlier documentation, the field is called countryIsoCode. Personal data. */
    readonly countryISOCode?: string | null
    /** Country of the home address, as an ISO code. The name of the field in the earlier documentation; it has the value if countryISOCode is missing. Personal data. */
    readonly countryIsoCode?: string | null
    /** Nationality, as an ISO country code. In the earlier documentation, the field is called nationalityIsoCode. Personal data. */
    readonly nationalityISOCode?: string | null
    /** Nationality, as an ISO country code. The name of the field in the earlier documentation; it has the value if nationalityISOCode is missing. Personal data. */
    readonly nationalityIsoCode?: string | null
    /** Sex. Known values: Unknown, Female, Male, Other; the service may add others. Sensitive personal data. */
    readonly sex?: string | null
    /** Marital status. Known values: Unknown, Single, Married, Widow, Widower, Divorced, LivingTogether; the service may add others. Sensitive personal data. */
    readonly maritalStatus?: string | null
    /** Date of birth. Personal data. */
    readonly birthDate?: string | null
    /** Place of birth. Personal data. */
    readonly placeOfBirth?: string | null
    /** Driving licence. Personal data. */
    readonly drivingLicense?: string | null
    /** Register number; the vendor does not document which register. Personal data. */
    readonly registerNumber?: string | null
    /** Passport number. Sensitive personal data. */
    readonly passportNumber?: string | null
    /** Social security number. Sensitive personal data. */
    readonly socialSecurityNumber?: string | null
    /** Bank account of the person. Sensitive personal data. */
    readonly bankAccount?: string | null
    /** First day of employment. */
    readonly inServiceDate?: string | null
    /** End of employment; empty while it is unknown. */
    readonly outOfServiceDate?: string | null
    /** A start date that the service calls wtd; the vendor does not document its meaning. */
    readonly wtdStartDate?: string | null
    /** Number of the employee, as text; the value of the external reference @employee-number. Personal data. */
    readonly employeeNumber?: string | null
    /** Pay group. */
    readonly payGroup?: string | null
    /** Pay per hour, in the currency of hourlyRateCurrencyDefinition. Sensitive personal data. */
    readonly hourlyRate?: number | null
    /** Maximum advance on pay, in the currency of advanceCurrencyDefinition. Sensitive personal data. */
    readonly maxAdvance?: number | null
    /** The group of terminals of the person. */
    readonly terminalGroup?: {
      /** Identifier of the terminal group, for which there is no stream. */
      readonly id?: number | null
    } | null
    /** Unique number of the badge; the value of the external reference @badge-number. Personal data. */
    readonly badgeNumber?: string | null
    /** PIN code of the person. Secret: anyone who knows it may be able to act as the person. Deselect it unless you need it. It is a number, so leading zeros are lost. */
    readonly pinCode?: number | null
    /** Language that terminals use for the person, as an ISO code. */
    readonly terminalLanguageISOCode?: string | null
    /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
    readonly externalReferences?: Readonly<Record<string, unknown>> | null
  }

  /** One shift that people can be scheduled for, such as a day or a night shift. */
  readonly 'shift-definitions': {
    /** Identifier of the shift definition, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** Name of the shift, with a default text and translations. */
    readonly name?: {
      /** Name for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the name, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Code of the shift, unique within the tenant; the value of the external reference @shift-code. */
    readonly code?: string | null
    /** Name of the shift as employees see it, with a default text and translations. */
    readonly friendlyName?: {
      /** Friendly name for users whose language has no translation. */
      readonly default?: string | null
      /** Translations of the friendly name, by language code (nl) or culture code (nl-BE). Languages without a translation are missing. */
      readonly translations?: Readonly<Record<string, unknown>> | null
    } | null
    /** Whether the shift is in use. */
    readonly isEnabled?: boolean | null
  }

  /** One interruption of the work of one person on one day. Personal data. */
  readonly 'work-interruptions': {
    /** Identifier of the interruption, assigned by the service; the primary key. */
    readonly id: number
    /** Version of the record. Of two versions of a record, the one with the greater changeVersion, compared as a string, is newer. Do not compare versions of different records. */
    readonly changeVersion?: string | null
    /** The person whose work was interrupted. Personal data. */
    readonly person?: {
      /** Identifier of the person; joins to people.id. */
      readonly id?: number | null
      /** External references of the person: values by the name of the reference, for predefined references such as @employee-number and @badge-number, and for custom ones. Contains only references that the configuration requests and that have a value. They identify a person: personal data. */
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
