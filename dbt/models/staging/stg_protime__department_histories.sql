-- Made by `npm run docs` from schemas/department_histories.json
{{ protime.stage('department_histories', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['from_date', 'date', 'from'],
    ['until_date', 'date', 'until'],
    ['department_id', 'integer', 'department.id'],
    ['department_external_references', 'json', 'department.externalReferences'],
    ['historical_field_category_id', 'integer', 'historicalFieldCategory.id'],
    ['historical_field_category_external_references', 'json', 'historicalFieldCategory.externalReferences'],
]) }}
