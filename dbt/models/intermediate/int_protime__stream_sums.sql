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
union all
{{ protime.row_sums('absence_definitions', [['id', 'integer']], 'change_version', none, '8f8b93e085fe5636') }}
union all
{{ protime.row_sums('absence_groups', [['id', 'integer']], 'change_version', none, '39f42127a574aa06') }}
union all
{{ protime.row_sums('absences', [['id', 'integer']], 'change_version', 'date_day', '7802e4d577720dc1') }}
union all
{{ protime.row_sums('access_clockings', [['id', 'integer']], 'change_version', 'date_day', '79bea89a9a6d4a40') }}
union all
{{ protime.row_sums('activity_definitions', [['id', 'text']], 'change_version', none, '2b9db92167a083e9') }}
union all
{{ protime.row_sums('activity_durations', [['id', 'integer']], 'change_version', 'date_day', 'ecd308b6ab72f0cf') }}
union all
{{ protime.row_sums('assignments', [['id', 'integer']], 'change_version', 'from_date', 'eb868428ad90ae23') }}
union all
{{ protime.row_sums('break_definitions', [['id', 'integer']], 'change_version', none, '1bf45120ea1b1b61') }}
union all
{{ protime.row_sums('breaks', [['id', 'integer']], 'change_version', 'date_day', '4486bf077ee0cfb4') }}
union all
{{ protime.row_sums('calculated_totals', [['id', 'integer']], 'change_version', 'date_day', '51a0aeb031d9bc3c') }}
union all
{{ protime.row_sums('clockings', [['id', 'integer']], 'change_version', 'date_day', 'a4bdd1e5a714100c') }}
union all
{{ protime.row_sums('contracts', [['id', 'integer']], 'change_version', none, '71cfaa250b7295b9') }}
union all
{{ protime.row_sums('counter_definitions', [['id', 'integer']], 'change_version', none, 'd028fe656f5ee04c') }}
union all
{{ protime.row_sums('counter_groups', [['id', 'integer']], 'change_version', none, 'cc59e96469e9d73b') }}
union all
{{ protime.row_sums('counters', [['id', 'integer']], 'change_version', 'date_day', '4e9fac1dd2cdc65c') }}
union all
{{ protime.row_sums('department_histories', [['id', 'integer']], 'change_version', none, '66be53d9acefc549') }}
union all
{{ protime.row_sums('departments', [['id', 'integer']], 'change_version', none, 'c37962797272b869') }}
union all
{{ protime.row_sums('employer_histories', [['id', 'integer']], 'change_version', none, 'f2369f569b9b9e24') }}
union all
{{ protime.row_sums('employers', [['id', 'integer']], 'change_version', none, '2eba6286d5fa9099') }}
union all
{{ protime.row_sums('external_references', [['collection', 'text'], ['name', 'text'], ['value', 'text']], none, none, '0ee33ef9c56b2508') }}
union all
{{ protime.row_sums('job_categories', [['id', 'integer']], 'change_version', none, 'c37962797272b869') }}
union all
{{ protime.row_sums('job_category_histories', [['id', 'integer']], 'change_version', none, '2d199d037bede935') }}
union all
{{ protime.row_sums('job_histories', [['id', 'integer']], 'change_version', none, '170f866e3bb76903') }}
union all
{{ protime.row_sums('jobs', [['id', 'integer']], 'change_version', none, 'cc59e96469e9d73b') }}
union all
{{ protime.row_sums('paid_presences', [['id', 'integer']], 'change_version', 'date_day', 'dfada22eadd1ccc7') }}
union all
{{ protime.row_sums('people', [['id', 'integer']], 'change_version', none, '6c389a5c45974786') }}
union all
{{ protime.row_sums('sector_histories', [['id', 'integer']], 'change_version', none, 'e9d0b73d185f57d8') }}
union all
{{ protime.row_sums('sectors', [['id', 'integer']], 'change_version', none, 'cc59e96469e9d73b') }}
union all
{{ protime.row_sums('shift_definitions', [['id', 'integer']], 'change_version', none, '335a838b47865c0a') }}
union all
{{ protime.row_sums('work_interruptions', [['id', 'integer']], 'change_version', 'date_day', 'b27cc0ef01c6ae19') }}
union all
{{ protime.row_sums('work_location_histories', [['id', 'integer']], 'change_version', none, 'ca5e8e5e993e1904') }}
union all
{{ protime.row_sums('work_locations', [['id', 'integer']], 'change_version', none, 'cc11ed6f57c488de') }}
