-- Made by `npm run docs` from schemas/counter_definitions.json
{{ protime.stage('counter_definitions', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
    ['code', 'text', 'code'],
    ['friendly_name_default', 'text', 'friendlyName.default'],
    ['friendly_name_translations', 'json', 'friendlyName.translations'],
    ['friendly_code_default', 'text', 'friendlyCode.default'],
    ['friendly_code_translations', 'json', 'friendlyCode.translations'],
    ['is_enabled', 'boolean', 'isEnabled'],
    ['counter_group_id', 'integer', 'counterGroup.id'],
    ['counter_group_external_references', 'json', 'counterGroup.externalReferences'],
    ['unit', 'text', 'unit'],
    ['external_references', 'json', 'externalReferences'],
]) }}
