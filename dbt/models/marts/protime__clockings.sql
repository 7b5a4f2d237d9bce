-- The clockings with their absolute times: one row per record of the service.
{%- set minute = 'coalesce(c.time_of_day_in_minutes, c.calculated_time_of_day_in_minutes)' %}
{%- set local = protime.at_minute('c.date_day', 'case when known.local_time then ' ~ minute ~ ' end') %}
select
  c.tenant, c.id as clocking_id, c.person_id, c.date_day, c.kind, c.time_of_day_in_minutes, c.calculated_time_of_day_in_minutes,
  {{ local }} as local_time,
  {{ protime.time_zone_of('h.work_location_id') }} as time_zone,
  {{ protime.absolute(local, protime.time_zone_of('h.work_location_id')) }} as clocked_at,
  c.is_generated, case when known.is_edited then c.original_time_of_day_in_minutes is not null end as is_edited, c.reason_id, c.terminal_id, h.work_location_id
from {{ ref('stg_protime__clockings') }} c
join {{ protime.known('protime__clockings') }} known on known.tenant = c.tenant
left join {{ ref('protime__person_history') }} h
  on h.tenant = c.tenant and h.person_id = c.person_id and c.date_day between h.valid_from and h.valid_until
