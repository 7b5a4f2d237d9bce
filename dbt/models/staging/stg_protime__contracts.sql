-- Made by `npm run docs` from schemas/contracts.json
{{ protime.stage('contracts', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['person_external_references', 'json', 'person.externalReferences'],
    ['code', 'text', 'code'],
    ['from_date', 'date', 'from'],
    ['until_date', 'date', 'until'],
    ['contract_hours_in_minutes', 'integer', 'contractHoursInMinutes'],
    ['full_time_equivalent_in_minutes', 'integer', 'fullTimeEquivalentInMinutes'],
    ['contract_percentage', 'number', 'contractPercentage'],
    ['number_of_working_days_per_week', 'number', 'numberOfWorkingDaysPerWeek'],
    ['number_of_days_in_contract_period', 'integer', 'numberOfDaysInContractPeriod'],
    ['kind', 'text', 'kind'],
    ['parent_contract_id', 'integer', 'parentContract.id'],
    ['parent_contract_external_references', 'json', 'parentContract.externalReferences'],
    ['external_references', 'json', 'externalReferences'],
]) }}
