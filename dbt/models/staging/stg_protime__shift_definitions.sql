-- Made by `npm run docs` from schemas/shift_definitions.json
{{ protime.stage('shift_definitions', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
    ['code', 'text', 'code'],
    ['friendly_name_default', 'text', 'friendlyName.default'],
    ['friendly_name_translations', 'json', 'friendlyName.translations'],
    ['is_enabled', 'boolean', 'isEnabled'],
]) }}
