-- Counters over time: one row per person, day and counter, with the sum from the beginning of the year to this day.
{%- set overtime = [] %}
{%- for name in var('protime_overtime_counters', none) or [] %}{% do overtime.append(protime.text_of(name)) %}{% endfor %}
with days as (
  select tenant, person_id, counter_definition_id, date_day,
    {{ protime.total('duration_in_minutes', 'true') }} as minutes, {{ protime.total('number_of_instances', 'true') }} as instances
  from {{ ref('stg_protime__counters') }}
  where person_id is not null and date_day is not null and counter_definition_id is not null
  group by 1, 2, 3, 4
)
select
  c.tenant, c.person_id, c.date_day, c.counter_definition_id, {{ protime.name_of('d') }} as counter_name, d.code as counter_code, d.unit,
  d.counter_group_id, {{ protime.name_of('g') }} as counter_group_name,
  case when known.is_overtime then {{ 'd.name_default in (' ~ overtime | join(', ') ~ ')' if overtime else 'cast(null as ' ~ dbt.type_boolean() ~ ')' }} end as is_overtime,
  c.minutes, c.instances,
  case when count(*) over year_so_far = count(c.minutes) over year_so_far and {{ protime.of_whole_year('minutes', 'extract(year from c.date_day)') }}
    then sum(c.minutes) over year_so_far end as minutes_of_year
from days c
join {{ protime.known('protime__counters') }} known on known.tenant = c.tenant
left join {{ ref('stg_protime__counter_definitions') }} d on d.tenant = c.tenant and d.id = c.counter_definition_id
left join {{ ref('stg_protime__counter_groups') }} g on g.tenant = d.tenant and g.id = d.counter_group_id
window year_so_far as (
  partition by c.tenant, c.person_id, c.counter_definition_id, extract(year from c.date_day) order by c.date_day rows unbounded preceding
)
