-- Made by `npm run docs` from schemas/departments.json
{{ protime.stage('departments', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
    ['external_code', 'text', 'externalCode'],
]) }}
