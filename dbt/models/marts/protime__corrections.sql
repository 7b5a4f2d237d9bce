-- What has changed in closed periods since they were closed: minutes that a period had then and has now, of the records that differ.
with versions as (
  {%- for tenant in protime.tenants() %}
  {%- set last_tenant = loop.last %}
  {%- for stream, told in protime.corrected().items() %}
  select v.tenant, '{{ stream }}' as stream, v.id, v.person_id, v.date_day,
    {{ 'v.definition_id' if told.definition else 'cast(null as ' ~ dbt.type_bigint() ~ ')' }} as definition_id, f.field,
    case f.field {% for name, _ in told.minutes %}when '{{ name }}' then v.{{ name }} {% endfor %}end as minutes,
    v.known_from, case when v.known_until <= {{ protime.as_of() }} then v.known_until end as known_until
  from ({{ protime.versions(tenant, stream) }}) v
  cross join (values {% for name, _ in told.minutes %}('{{ name }}'){{ ', ' if not loop.last }}{% endfor %}) as f (field)
  {%- if told.only %} where {{ told.only[1] }}{% endif %}
  {{- ' union all' if not (last_tenant and loop.last) }}
  {%- endfor %}
  {%- endfor %}
),
changes as (
  select v.*, c.period, c.closed_at,
    case when v.known_from <= c.closed_at then 1 else 0 end as was, case when v.known_until is null then 1 else 0 end as is_now
  from versions v
  join {{ ref('int_protime__closes') }} c on c.tenant = v.tenant and c.stream = v.stream and c.is_known
    and v.date_day between c.first_day and c.last_day
  -- What was true then and is now has not changed. What was true neither then nor now is of no interest.
  where (v.known_from <= c.closed_at and v.known_until > c.closed_at) or (v.known_from > c.closed_at and v.known_from <= {{ protime.as_of() }} and v.known_until is null)
),
-- A record that has moved to another day, person or kind is gone there, and added here.
corrections as (
  select tenant, period, closed_at, stream, id as record_id, person_id, date_day, definition_id, field,
    max(case when was = 1 then minutes end) as minutes_before, max(case when is_now = 1 then minutes end) as minutes_after,
    case when max(was) = 0 then 'added' when max(is_now) = 0 then 'gone' else 'changed' end as kind
  from changes
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9
)
select c.tenant, c.period, c.closed_at, c.stream, c.record_id, c.person_id, c.date_day,
  c.definition_id, coalesce({{ protime.name_of('absences') }}, {{ protime.name_of('counters') }}) as definition_name,
  c.field, c.minutes_before, c.minutes_after, c.kind
from corrections c
left join {{ ref('stg_protime__absence_definitions') }} absences
  on c.stream = 'absences' and absences.tenant = c.tenant and absences.id = c.definition_id
left join {{ ref('stg_protime__counter_definitions') }} counters
  on c.stream = 'counters' and counters.tenant = c.tenant and counters.id = c.definition_id
where c.minutes_before is distinct from c.minutes_after
