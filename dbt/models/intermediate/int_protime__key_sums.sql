-- Made by `npm run docs` from schemas/*.json
{{ protime.key_sums('absence_definitions', [['id', 'integer']]) }}
union all
{{ protime.key_sums('absence_groups', [['id', 'integer']]) }}
union all
{{ protime.key_sums('absences', [['id', 'integer']]) }}
union all
{{ protime.key_sums('access_clockings', [['id', 'integer']]) }}
union all
{{ protime.key_sums('activity_definitions', [['id', 'text']]) }}
union all
{{ protime.key_sums('activity_durations', [['id', 'integer']]) }}
union all
{{ protime.key_sums('assignments', [['id', 'integer']]) }}
union all
{{ protime.key_sums('break_definitions', [['id', 'integer']]) }}
union all
{{ protime.key_sums('breaks', [['id', 'integer']]) }}
union all
{{ protime.key_sums('calculated_totals', [['id', 'integer']]) }}
union all
{{ protime.key_sums('clockings', [['id', 'integer']]) }}
union all
{{ protime.key_sums('contracts', [['id', 'integer']]) }}
union all
{{ protime.key_sums('counter_definitions', [['id', 'integer']]) }}
union all
{{ protime.key_sums('counter_groups', [['id', 'integer']]) }}
union all
{{ protime.key_sums('counters', [['id', 'integer']]) }}
union all
{{ protime.key_sums('department_histories', [['id', 'integer']]) }}
union all
{{ protime.key_sums('departments', [['id', 'integer']]) }}
union all
{{ protime.key_sums('employer_histories', [['id', 'integer']]) }}
union all
{{ protime.key_sums('employers', [['id', 'integer']]) }}
union all
{{ protime.key_sums('external_references', [['collection', 'text'], ['name', 'text'], ['value', 'text']]) }}
union all
{{ protime.key_sums('job_categories', [['id', 'integer']]) }}
union all
{{ protime.key_sums('job_category_histories', [['id', 'integer']]) }}
union all
{{ protime.key_sums('job_histories', [['id', 'integer']]) }}
union all
{{ protime.key_sums('jobs', [['id', 'integer']]) }}
union all
{{ protime.key_sums('paid_presences', [['id', 'integer']]) }}
union all
{{ protime.key_sums('people', [['id', 'integer']]) }}
union all
{{ protime.key_sums('sector_histories', [['id', 'integer']]) }}
union all
{{ protime.key_sums('sectors', [['id', 'integer']]) }}
union all
{{ protime.key_sums('shift_definitions', [['id', 'integer']]) }}
union all
{{ protime.key_sums('work_interruptions', [['id', 'integer']]) }}
union all
{{ protime.key_sums('work_location_histories', [['id', 'integer']]) }}
union all
{{ protime.key_sums('work_locations', [['id', 'integer']]) }}
