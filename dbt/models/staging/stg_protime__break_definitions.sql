-- Made by `npm run docs` from schemas/break_definitions.json
{{ protime.stage('break_definitions', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
    ['friendly_name_default', 'text', 'friendlyName.default'],
    ['friendly_name_translations', 'json', 'friendlyName.translations'],
    ['paid_duration_in_minutes', 'integer', 'paidDurationInMinutes'],
    ['minimum_duration_in_minutes', 'integer', 'minimumDurationInMinutes'],
    ['maximum_duration_in_minutes', 'integer', 'maximumDurationInMinutes'],
    ['if_not_clocked_duration_in_minutes', 'integer', 'ifNotClockedDurationInMinutes'],
    ['has_to_be_taken_uninterrupted', 'boolean', 'hasToBeTakenUninterrupted'],
]) }}
