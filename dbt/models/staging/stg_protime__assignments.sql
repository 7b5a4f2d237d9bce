-- Made by `npm run docs` from schemas/assignments.json
{{ protime.stage('assignments', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['person_external_references', 'json', 'person.externalReferences'],
    ['from_date', 'date', 'from'],
    ['until_date', 'date', 'until'],
    ['start_time_in_minutes', 'integer', 'startTimeInMinutes'],
    ['end_time_in_minutes', 'integer', 'endTimeInMinutes'],
    ['break_duration_in_minutes', 'integer', 'breakDurationInMinutes'],
    ['comments', 'text', 'comments'],
    ['activity_levels', 'json', 'activityLevels'],
    ['is_rejected', 'boolean', 'isRejected'],
]) }}
