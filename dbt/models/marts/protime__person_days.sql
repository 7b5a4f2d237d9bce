-- One row per person and day with calculated totals: due, present, absent, overtime.
with absent as (
  select tenant, person_id, date_day,
    {{ protime.total('absent_minutes', 'not is_working_elsewhere') }} as absent_minutes,
    {{ protime.total('absent_minutes', 'is_working_elsewhere') }} as elsewhere_minutes,
    min(case when not is_working_elsewhere then absence_name end) as absence_name
  from {{ ref('protime__absences') }} where decision = 'granted'
  group by 1, 2, 3
),
overtime as (
  select tenant, person_id, date_day, {{ protime.total('minutes', 'is_overtime') }} as overtime_minutes
  from {{ ref('protime__counters') }} group by 1, 2, 3
),
paid as (
  select tenant, person_id, date_day, {{ protime.total('duration_in_minutes', 'true') }} as paid_minutes
  from {{ ref('stg_protime__paid_presences') }} group by 1, 2, 3
),
broken as (
  select tenant, person_id, date_day, {{ protime.total('calculated_duration_in_minutes', 'is_break_taken') }} as break_minutes
  from {{ ref('stg_protime__breaks') }} group by 1, 2, 3
),
-- If a person has two totals on a day, the newest one is used, and the test of the sum warns.
totals as (
  select * from (
    select t.*, row_number() over (partition by tenant, person_id, date_day order by id desc) as newest
    from {{ ref('stg_protime__calculated_totals') }} t
    where person_id is not null and date_day is not null
  ) numbered where newest = 1
)
select
  t.tenant, t.person_id, t.date_day,
  h.department_id, h.department_name, h.employer_id, h.employer_name, h.job_id, h.work_location_id, h.fte,
  t.shift_definition_id, {{ protime.name_of('s') }} as shift_name,
  t.normal_time_duration_in_minutes as due_minutes,
  t.time_present_duration_in_minutes as present_minutes,
  t.calculated_presence_duration_in_minutes as calculated_presence_minutes,
  {{ protime.of_day('paid', 'paid_minutes') }},
  {{ protime.of_day('a', 'absent_minutes') }},
  {{ protime.of_day('a', 'elsewhere_minutes', 'absent_minutes') }},
  a.absence_name,
  {{ protime.of_day('o', 'overtime_minutes') }},
  {{ protime.of_day('b', 'break_minutes') }},
  t.flextime_duration_in_minutes as flextime_minutes,
  t.flextime_balance_in_minutes as flextime_balance_minutes,
  {{ protime.of_day('c', 'clockings') }},
  case when known.first_minute then c.first_minute end as first_minute, case when known.first_minute then c.last_minute end as last_minute
from totals t
join {{ protime.known('protime__person_days') }} known on known.tenant = t.tenant
left join {{ ref('protime__person_history') }} h
  on h.tenant = t.tenant and h.person_id = t.person_id and t.date_day between h.valid_from and h.valid_until
left join {{ ref('stg_protime__shift_definitions') }} s on s.tenant = t.tenant and s.id = t.shift_definition_id
{%- for alias, relation in [['a', 'absent'], ['o', 'overtime'], ['paid', 'paid'], ['b', 'broken'], ['c', ref('int_protime__clocking_days')]] %}
left join {{ relation }} {{ alias }} on {{ alias }}.tenant = t.tenant and {{ alias }}.person_id = t.person_id and {{ alias }}.date_day = t.date_day
{%- endfor %}
