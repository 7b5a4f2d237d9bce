/**
 * Every documented field of every collection, with dots between the parts of a path.
 */
export const documentedFields: Readonly<Record<string, string>> = {
  absences:
    'changeVersion id person.id resultingAbsenceDefinition.id requestedAbsenceDefinition.id shiftDefinition.id date startTimeInMinutes durationInMinutes calculatedDurationInMinutes dayPart request.id status approvalLevel isLocked periodType',
  'absence-definitions':
    'changeVersion id name.default name.translations code friendlyName.default friendlyName.translations friendlyCode.default friendlyCode.translations allowedDurations isEnabled isReasonForClocking absenceGroup.id',
  'absence-groups': 'changeVersion id name.default name.translations type',
  'access-clockings': 'changeVersion id person.id date timeOfDayInMinutes terminal.id status',
  'activity-definitions':
    'id structureVersion level changeVersion name.default name.translations parent.id shortCode dataEntryCode externalReference info activeFrom activeUntil canConfigureRestrictions',
  'activity-durations':
    'changeVersion id person.id date durationInMinutes activityLevels.level activityLevels.activityDefinition.id absenceDefinition.id request.id counterDefinitions.id shiftDefinition.id status isAuthorized timeOfDayInMinutes calculatedTimeOfDayInMinutes isGenerated kind',
  'break-definitions':
    'changeVersion id name.default name.translations friendlyName.default friendlyName.translations paidDurationInMinutes minimumDurationInMinutes maximumDurationInMinutes ifNotClockedDurationInMinutes hasToBeTakenUninterrupted',
  breaks:
    'changeVersion id person.id breakDefinition.id date calculatedDurationInMinutes clockedDurationInMinutes startTimeInMinutes endTimeInMinutes isBreakTaken',
  'calculated-totals':
    'changeVersion id person.id date normalTimeDurationInMinutes timePresentDurationInMinutes calculatedPresenceDurationInMinutes weeklyHours1DurationInMinutes weeklyHours2DurationInMinutes weeklyHours3DurationInMinutes payPeriodHoursDurationInMinutes flextimeDurationInMinutes flextimeBalanceInMinutes shiftDefinition.id',
  clockings:
    'changeVersion id person.id date timeOfDayInMinutes originalTimeOfDayInMinutes calculatedTimeOfDayInMinutes isGenerated terminal.id geolocation.longitude geolocation.latitude kind reason.id isOpen activityLevels.level activityLevels.activityDefinition.id status',
  contracts:
    'changeVersion id person.id code from until contractHoursInMinutes fullTimeEquivalentInMinutes contractPercentage numberOfWorkingDaysPerWeek numberOfDaysInContractPeriod kind parentContract.id',
  counters:
    'changeVersion id shiftDefinition.id numberOfInstances request.id status isAuthorized person.id periodType counterDefinition.id date startTimeInMinutes endTimeInMinutes durationInMinutes',
  'counter-definitions':
    'changeVersion id name.default name.translations code friendlyName.default friendlyName.translations friendlyCode.default friendlyCode.translations isEnabled counterGroup.id unit',
  'counter-groups': 'changeVersion id name.default name.translations',
  departments: 'changeVersion id name.default name.translations externalCode',
  employers:
    'changeVersion id name.default name.translations externalCode address town postalCode bankAccount companyRegistrationNumber',
  'job-categories': 'changeVersion id name.default name.translations externalCode',
  jobs: 'changeVersion id name.default name.translations',
  'paid-presences': 'changeVersion id person.id date durationInMinutes shiftDefinition.id',
  people:
    'id changeVersion periodClosingDate hourlyRateCurrencyDefinition.id advanceCurrencyDefinition.id lastName firstName initials telephone mobile email address postalCode town countryISOCode nationalityISOCode sex maritalStatus birthDate placeOfBirth drivingLicense registerNumber passportNumber socialSecurityNumber bankAccount inServiceDate outOfServiceDate wtdStartDate employeeNumber payGroup hourlyRate maxAdvance terminalGroup.id badgeNumber pinCode terminalLanguageISOCode',
  'shift-definitions':
    'changeVersion id name.default name.translations code friendlyName.default friendlyName.translations isEnabled',
  'work-interruptions':
    'changeVersion id person.id date durationInMinutes startTimeInMinutes endTimeInMinutes',
  'work-locations': 'changeVersion id name.default name.translations description',
  assignments:
    'changeVersion id person.id from until startTimeInMinutes endTimeInMinutes breakDurationInMinutes comments activityLevels.level activityLevels.activityDefinition.id isRejected',
  sectors: 'changeVersion id name.default name.translations',
  'department-histories': 'id changeVersion person.id from until department.id',
  'employer-histories': 'id changeVersion person.id from until employer.id',
  'job-histories': 'id changeVersion person.id from until job.id',
  'job-category-histories': 'id changeVersion person.id from until jobCategory.id',
  'sector-histories': 'id changeVersion person.id from until sector.id',
  'work-location-histories': 'id changeVersion person.id from until workLocation.id',
}
