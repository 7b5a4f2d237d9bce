-- Made by `npm run docs` from schemas/activity_definitions.json
{{ protime.stage('activity_definitions', ['id'], [
    ['id', 'text', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['structure_version', 'text', 'structureVersion'],
    ['level', 'integer', 'level'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
    ['parent_id', 'text', 'parent.id'],
    ['parent_external_references', 'json', 'parent.externalReferences'],
    ['short_code', 'text', 'shortCode'],
    ['data_entry_code', 'text', 'dataEntryCode'],
    ['external_reference', 'text', 'externalReference'],
    ['info', 'text', 'info'],
    ['active_from', 'date', 'activeFrom'],
    ['active_until', 'date', 'activeUntil'],
    ['can_configure_restrictions', 'boolean', 'canConfigureRestrictions'],
    ['external_references', 'json', 'externalReferences'],
]) }}
