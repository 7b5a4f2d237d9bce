-- Made by `npm run docs` from schemas/absence_definitions.json
{{ protime.stage('absence_definitions', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
    ['code', 'text', 'code'],
    ['friendly_name_default', 'text', 'friendlyName.default'],
    ['friendly_name_translations', 'json', 'friendlyName.translations'],
    ['friendly_code_default', 'text', 'friendlyCode.default'],
    ['friendly_code_translations', 'json', 'friendlyCode.translations'],
    ['allowed_durations', 'json', 'allowedDurations'],
    ['is_enabled', 'boolean', 'isEnabled'],
    ['is_reason_for_clocking', 'boolean', 'isReasonForClocking'],
    ['absence_group_id', 'integer', 'absenceGroup.id'],
    ['absence_group_external_references', 'json', 'absenceGroup.externalReferences'],
]) }}
