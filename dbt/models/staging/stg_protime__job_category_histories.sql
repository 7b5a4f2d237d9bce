-- Made by `npm run docs` from schemas/job_category_histories.json
{{ protime.stage('job_category_histories', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['from_date', 'date', 'from'],
    ['until_date', 'date', 'until'],
    ['job_category_id', 'integer', 'jobCategory.id'],
    ['job_category_external_references', 'json', 'jobCategory.externalReferences'],
    ['historical_field_category_id', 'integer', 'historicalFieldCategory.id'],
    ['historical_field_category_external_references', 'json', 'historicalFieldCategory.externalReferences'],
]) }}
