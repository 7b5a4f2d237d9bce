-- Made by `npm run docs` from schemas/breaks.json
{{ protime.stage('breaks', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['person_external_references', 'json', 'person.externalReferences'],
    ['break_definition_id', 'integer', 'breakDefinition.id'],
    ['date_day', 'date', 'date'],
    ['calculated_duration_in_minutes', 'integer', 'calculatedDurationInMinutes'],
    ['clocked_duration_in_minutes', 'integer', 'clockedDurationInMinutes'],
    ['start_time_in_minutes', 'integer', 'startTimeInMinutes'],
    ['end_time_in_minutes', 'integer', 'endTimeInMinutes'],
    ['is_break_taken', 'boolean', 'isBreakTaken'],
]) }}
