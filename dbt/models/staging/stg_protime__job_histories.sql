-- Made by `npm run docs` from schemas/job_histories.json
{{ protime.stage('job_histories', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['from_date', 'date', 'from'],
    ['until_date', 'date', 'until'],
    ['job_id', 'integer', 'job.id'],
    ['job_external_references', 'json', 'job.externalReferences'],
    ['historical_field_category_id', 'integer', 'historicalFieldCategory.id'],
    ['historical_field_category_external_references', 'json', 'historicalFieldCategory.externalReferences'],
]) }}
