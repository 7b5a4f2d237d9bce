-- The clockings of a person on a day.
{%- set minute = 'coalesce(calculated_time_of_day_in_minutes, time_of_day_in_minutes)' %}
select
  tenant, person_id, date_day,
  count(*) as clockings,
  {{ protime.total('1', "kind = 'InOut'") }} as in_out_clockings,
  min(case when kind = 'InOut' then {{ minute }} end) as first_minute,
  max(case when kind = 'InOut' then {{ minute }} end) as last_minute,
  {{ protime.total('1', 'is_generated') }} as generated_clockings,
  sum(case when original_time_of_day_in_minutes is not null then 1 else 0 end) as edited_clockings
from {{ ref('stg_protime__clockings') }}
where person_id is not null and date_day is not null
group by 1, 2, 3
