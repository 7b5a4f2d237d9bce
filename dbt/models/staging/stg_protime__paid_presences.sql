-- Made by `npm run docs` from schemas/paid_presences.json
{{ protime.stage('paid_presences', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['person_external_references', 'json', 'person.externalReferences'],
    ['date_day', 'date', 'date'],
    ['duration_in_minutes', 'integer', 'durationInMinutes'],
    ['shift_definition_id', 'integer', 'shiftDefinition.id'],
    ['shift_definition_external_references', 'json', 'shiftDefinition.externalReferences'],
]) }}
