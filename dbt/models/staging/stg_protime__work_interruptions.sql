-- Made by `npm run docs` from schemas/work_interruptions.json
{{ protime.stage('work_interruptions', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['person_external_references', 'json', 'person.externalReferences'],
    ['date_day', 'date', 'date'],
    ['duration_in_minutes', 'integer', 'durationInMinutes'],
    ['start_time_in_minutes', 'integer', 'startTimeInMinutes'],
    ['end_time_in_minutes', 'integer', 'endTimeInMinutes'],
]) }}
