-- Made by `npm run docs` from schemas/absence_groups.json
{{ protime.stage('absence_groups', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
    ['type', 'text', 'type'],
]) }}
