-- Made by `npm run docs` from schemas/access_clockings.json
{{ protime.stage('access_clockings', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['person_external_references', 'json', 'person.externalReferences'],
    ['date_day', 'date', 'date'],
    ['time_of_day_in_minutes', 'integer', 'timeOfDayInMinutes'],
    ['terminal_id', 'integer', 'terminal.id'],
    ['terminal_external_references', 'json', 'terminal.externalReferences'],
    ['status', 'text', 'status'],
]) }}
