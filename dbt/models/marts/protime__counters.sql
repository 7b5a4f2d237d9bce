-- Counters over time: one row per person, day and counter, with the sum from the beginning of the year to this day.
{%- set names = var('protime_overtime_counters', none) or [] %}
{%- set quoted = names | map('replace', "'", "''") | join("', '") %}
{%- set overtime = "coalesce(d.name_default in ('" ~ quoted ~ "'), false)" if names else 'false' %}
with days as (
  select tenant, person_id, counter_definition_id, date_day,
    sum(coalesce(duration_in_minutes, 0)) as minutes, sum(coalesce(number_of_instances, 0)) as instances
  from {{ ref('stg_protime__counters') }}
  group by 1, 2, 3, 4
)
select
  c.tenant, c.person_id, c.date_day, c.counter_definition_id, {{ protime.name_of('d') }} as counter_name, d.code as counter_code, d.unit,
  d.counter_group_id, {{ protime.name_of('g') }} as counter_group_name,
  {{ overtime }} as is_overtime,
  c.minutes, c.instances,
  sum(c.minutes) over (partition by c.tenant, c.person_id, c.counter_definition_id, extract(year from c.date_day)
    order by c.date_day rows unbounded preceding) as minutes_of_year
from days c
left join {{ ref('stg_protime__counter_definitions') }} d on d.tenant = c.tenant and d.id = c.counter_definition_id
left join {{ ref('stg_protime__counter_groups') }} g on g.tenant = d.tenant and g.id = d.counter_group_id
