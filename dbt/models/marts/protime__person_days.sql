-- One row per person and day with calculated totals: due, present, absent, overtime.
with absent as (
  select tenant, person_id, date_day,
    sum(case when not is_working_elsewhere then absent_minutes else 0 end) as absent_minutes,
    sum(case when is_working_elsewhere then absent_minutes else 0 end) as elsewhere_minutes,
    min(case when not is_working_elsewhere then absence_name end) as absence_name
  from {{ ref('protime__absences') }} where decision = 'granted'
  group by 1, 2, 3
),
overtime as (
  select tenant, person_id, date_day, sum(case when is_overtime then minutes else 0 end) as overtime_minutes
  from {{ ref('protime__counters') }} group by 1, 2, 3
),
paid as (
  select tenant, person_id, date_day, sum(duration_in_minutes) as paid_minutes
  from {{ ref('stg_protime__paid_presences') }} group by 1, 2, 3
),
broken as (
  select tenant, person_id, date_day, sum(case when is_break_taken then calculated_duration_in_minutes else 0 end) as break_minutes
  from {{ ref('stg_protime__breaks') }} group by 1, 2, 3
),
-- If a person has two totals on a day, the newest one is used, and the test of the sum fails.
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
  coalesce(t.normal_time_duration_in_minutes, 0) as due_minutes,
  coalesce(t.time_present_duration_in_minutes, 0) as present_minutes,
  coalesce(t.calculated_presence_duration_in_minutes, 0) as calculated_presence_minutes,
  coalesce(paid.paid_minutes, 0) as paid_minutes,
  coalesce(a.absent_minutes, 0) as absent_minutes,
  coalesce(a.elsewhere_minutes, 0) as elsewhere_minutes,
  a.absence_name,
  coalesce(o.overtime_minutes, 0) as overtime_minutes,
  coalesce(b.break_minutes, 0) as break_minutes,
  t.flextime_duration_in_minutes as flextime_minutes,
  t.flextime_balance_in_minutes as flextime_balance_minutes,
  coalesce(c.clockings, 0) as clockings, c.first_minute, c.last_minute
from totals t
left join {{ ref('protime__person_history') }} h
  on h.tenant = t.tenant and h.person_id = t.person_id and t.date_day between h.valid_from and h.valid_until
left join {{ ref('stg_protime__shift_definitions') }} s on s.tenant = t.tenant and s.id = t.shift_definition_id
{%- for alias, relation in [['a', 'absent'], ['o', 'overtime'], ['paid', 'paid'], ['b', 'broken'], ['c', ref('int_protime__clocking_days')]] %}
left join {{ relation }} {{ alias }} on {{ alias }}.tenant = t.tenant and {{ alias }}.person_id = t.person_id and {{ alias }}.date_day = t.date_day
{%- endfor %}
