-- What differs from the rows that are expected of the seeds, and the values of the seeds that do not fit, which are three.
{%- set tables = {
    'protime__person_history': [
        ['person_id', 'valid_from', 'valid_until', 'department_id', 'contract_id', 'cast(round(100 * fte) as ' ~ dbt.type_int() ~ ')'],
        '1|2026-01-01|2026-02-28|5|11|100',
        '1|2026-03-01|2026-03-31|5|12|50',
        '1|2026-04-01|2026-04-30||12|50',
        '1|2026-05-01|9999-12-31||11|100',
        '2|2026-01-01|2026-03-14|5|13|100',
        '2|2026-03-15|2026-03-31|6|13|100',
        '2|2026-04-01|2026-05-31|6|13|100',
        '2|2026-06-01|2026-06-30|6|14|80',
        '2|2026-07-01|2026-08-31|6|14|80',
        '3|1900-01-01|2025-12-31||18|80',
        '3|2026-01-01|2026-03-31|7|18|80',
        '3|2026-04-01|2026-06-30||18|80',
        '3|2026-07-01|9999-12-31||19|80',
    ],
    'protime__people': [
        ['person_id', 'last_name', 'cast(round(100 * hourly_rate) as ' ~ dbt.type_int() ~ ')'],
        '1|Contract and addendum|2135',
        '2|Overlapping histories|',
        '3||',
    ],
    'protime__absences': [
        ['absence_id', 'decision', 'absent_minutes', 'cast(is_planned as ' ~ dbt.type_int() ~ ')'],
        '52|granted|400|1',
        '53|awaiting|300|1',
    ],
    'protime__absence_years': [
        ['person_id', 'days_taken', 'minutes_taken', 'days_planned', 'minutes_planned', 'minutes_awaiting'],
        '2|||0|0|',
        '3|||1|400|',
    ],
    'protime__person_days': [
        ['person_id', 'date_day', 'due_minutes', 'absent_minutes', 'elsewhere_minutes', 'clockings', 'paid_minutes', 'overtime_minutes'],
        '3|2026-11-09|456|||||',
        '1|2026-11-10|480|0|0|2||',
        '2|2026-11-10|456|0|0|1||',
        '3|2026-11-10|456|0|0|0||',
        '3|2026-11-11|456|0|0|0||',
        '3|2026-11-20||400|0|0||',
    ],
    'protime__corrections': [
        ['period', 'stream', 'record_id', 'person_id', 'date_day', 'definition_id', 'field', 'minutes_before', 'minutes_after', 'kind'],
        '2026-11|calculated_totals|32|2|2026-11-10||present_minutes|180|200|changed',
        '2026-11|calculated_totals|33|3|2026-11-10||due_minutes||456|added',
        '2026-11|calculated_totals|33|3|2026-11-10||present_minutes||0|added',
        '2026-11|calculated_totals|34|3|2026-11-11||due_minutes||456|added',
        '2026-11|calculated_totals|34|3|2026-11-11||present_minutes||456|added',
        '2026-11|calculated_totals|34|3|2026-11-12||due_minutes|456||gone',
        '2026-11|calculated_totals|34|3|2026-11-12||present_minutes|456||gone',
        '2026-11|calculated_totals|35|3|2026-11-20||due_minutes|456||changed',
        '2026-11|calculated_totals|36|1|2026-11-12||due_minutes|480||gone',
        '2026-11|calculated_totals|36|1|2026-11-12||present_minutes|470||gone',
        '2026-11|calculated_totals|37|1|2026-11-13||due_minutes|480||gone',
        '2026-11|calculated_totals|37|1|2026-11-13||present_minutes|480||gone',
        '2026-11|absences|51|3|2026-11-10|1|absent_minutes|456||gone',
        '2026-11|absences|52|3|2026-11-20|1|absent_minutes|456|400|changed',
        '2026-11|absences|53|2|2026-11-20|1|absent_minutes|456||gone',
    ],
    'protime__clocking_anomalies': [
        ['person_id', 'date_day', 'anomaly', 'detail'],
        '2|2026-11-10|missing_clocking|1',
        '2|2026-11-10|edited|1',
        '3|2026-11-10|due_but_neither_present_nor_absent|456',
        '3|2026-11-11|present_without_clocking|456',
        '3|2026-11-19|generated|2',
        '1|2026-11-18|missing_clocking|1',
        '2|2026-11-18|missing_clocking|1',
    ],
    'protime__presence_now': [
        ['person_id', 'presence', 'date_day', 'first_minute', 'last_minute'],
        '1|present|2026-11-18|1320|1320',
        '2|left|2026-11-20|-1420|-1411',
        '3|present|2026-11-19|20|20',
    ],
} %}
{%- for model, table in tables.items() %}
{%- set texts = [] %}
{%- for column in table[0] %}{% do texts.append("coalesce(cast(" ~ column ~ " as " ~ dbt.type_string() ~ "), '')") %}{% endfor %}
{%- set actual %}select '{{ model }}' as place, {{ texts | join(" || '|' || ") }} as line from {{ ref(model) }}{% endset %}
{%- set expected %}select * from ({% for line in table[1:] %}select '{{ model }}' as place, '{{ line }}' as line{{ ' union all ' if not loop.last }}{% endfor %}) expected{% endset %}
({{ actual }} except {{ expected }})
union all
({{ expected }} except {{ actual }})
union all
{%- endfor %}
select 'values that do not fit', cast(count(*) as {{ dbt.type_string() }}) from (
  select id from {{ ref('stg_protime__contracts') }} where _unfit_values = 1
  union all select id from {{ ref('stg_protime__clockings') }} where _unfit_values = 1
) unfit having count(*) <> 3
