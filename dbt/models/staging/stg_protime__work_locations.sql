-- Made by `npm run docs` from schemas/work_locations.json
{{ protime.stage('work_locations', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
    ['description', 'text', 'description'],
]) }}
