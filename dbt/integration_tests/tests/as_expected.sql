-- What differs from the rows that the seeds expect, and the values of the seeds that do not fit, which are two.
{%- set compared = [
    ['protime__person_history', 'expected_person_history', ['person_id', 'valid_from', 'valid_until', 'department_id', 'contract_id', 'fte_percent']],
    ['protime__clocking_anomalies', 'expected_clocking_anomalies', ['person_id', 'date_day', 'anomaly', 'detail']],
] %}
{%- for model, seed, columns in compared %}
{%- set texts = [] %}
{%- for column in columns %}{% do texts.append("coalesce(cast(" ~ column ~ " as " ~ dbt.type_string() ~ "), '')") %}{% endfor %}
{%- set line = texts | join(" || ' ' || ") %}
{%- set actual %}select '{{ model }}' as place, {{ line | replace('fte_percent', 'cast(round(100 * fte) as ' ~ dbt.type_int() ~ ')') }} as line from {{ ref(model) }}{% endset %}
{%- set expected %}select '{{ model }}' as place, {{ line }} as line from {{ ref(seed) }}{% endset %}
({{ actual }} except {{ expected }})
union all
({{ expected }} except {{ actual }})
union all
{%- endfor %}
select 'values that do not fit', cast(count(*) as {{ dbt.type_string() }}) from (
  select id from {{ ref('stg_protime__contracts') }} where _unfit_values = 1
  union all select id from {{ ref('stg_protime__clockings') }} where _unfit_values = 1
) unfit having count(*) <> 2
