-- Made by `npm run docs` from schemas/work_location_histories.json
{{ protime.stage('work_location_histories', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['from_date', 'date', 'from'],
    ['until_date', 'date', 'until'],
    ['work_location_id', 'integer', 'workLocation.id'],
    ['work_location_external_references', 'json', 'workLocation.externalReferences'],
    ['historical_field_category_id', 'integer', 'historicalFieldCategory.id'],
    ['historical_field_category_external_references', 'json', 'historicalFieldCategory.externalReferences'],
]) }}
