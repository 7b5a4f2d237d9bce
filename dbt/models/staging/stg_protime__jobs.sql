-- Made by `npm run docs` from schemas/jobs.json
{{ protime.stage('jobs', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
]) }}
