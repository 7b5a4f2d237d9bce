-- Made by `npm run docs` from schemas/calculated_totals.json
{{ protime.stage('calculated_totals', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['person_id', 'integer', 'person.id'],
    ['person_external_references', 'json', 'person.externalReferences'],
    ['date_day', 'date', 'date'],
    ['normal_time_duration_in_minutes', 'integer', 'normalTimeDurationInMinutes'],
    ['time_present_duration_in_minutes', 'integer', 'timePresentDurationInMinutes'],
    ['calculated_presence_duration_in_minutes', 'integer', 'calculatedPresenceDurationInMinutes'],
    ['weekly_hours1_duration_in_minutes', 'integer', 'weeklyHours1DurationInMinutes'],
    ['weekly_hours2_duration_in_minutes', 'integer', 'weeklyHours2DurationInMinutes'],
    ['weekly_hours3_duration_in_minutes', 'integer', 'weeklyHours3DurationInMinutes'],
    ['pay_period_hours_duration_in_minutes', 'integer', 'payPeriodHoursDurationInMinutes'],
    ['flextime_duration_in_minutes', 'integer', 'flextimeDurationInMinutes'],
    ['flextime_balance_in_minutes', 'integer', 'flextimeBalanceInMinutes'],
    ['shift_definition_id', 'integer', 'shiftDefinition.id'],
    ['shift_definition_external_references', 'json', 'shiftDefinition.externalReferences'],
]) }}
