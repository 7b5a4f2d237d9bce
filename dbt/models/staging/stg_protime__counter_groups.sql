-- Made by `npm run docs` from schemas/counter_groups.json
{{ protime.stage('counter_groups', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
]) }}
