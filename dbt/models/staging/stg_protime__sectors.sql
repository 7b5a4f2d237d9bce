-- Made by `npm run docs` from schemas/sectors.json
{{ protime.stage('sectors', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
]) }}
