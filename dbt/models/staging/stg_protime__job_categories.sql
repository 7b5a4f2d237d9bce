-- Made by `npm run docs` from schemas/job_categories.json
{{ protime.stage('job_categories', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
    ['external_code', 'text', 'externalCode'],
]) }}
