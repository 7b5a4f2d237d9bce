-- Made by `npm run docs` from schemas/sector_histories.json
{{ protime.stage('sector_histories', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['from_date', 'date', 'from'],
    ['until_date', 'date', 'until'],
    ['sector_id', 'integer', 'sector.id'],
    ['sector_external_references', 'json', 'sector.externalReferences'],
    ['historical_field_category_id', 'integer', 'historicalFieldCategory.id'],
    ['historical_field_category_external_references', 'json', 'historicalFieldCategory.externalReferences'],
]) }}
