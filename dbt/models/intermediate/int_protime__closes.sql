-- The closed periods by stream: one row per tenant, stream and period, with the newest close of the period.
{%- set selects = [] %}
{%- for tenant in protime.tenants() %}
{%- set closes = protime.closes_of(tenant) %}
{%- for stream in protime.corrected() if closes is not none and protime.table_of(tenant, stream) is not none %}
{%- do selects.append('select ' ~ protime.text_of(tenant.name) ~ " as tenant, '" ~ stream ~ "' as stream, closes.*, known.known_since from (" ~ closes
    ~ ') closes left join (' ~ protime.known_since(tenant, stream) ~ ') known on true') %}
{%- endfor %}
{%- endfor %}
select tenant, stream, period, first_day, last_day, closed_at, known_since, coalesce(known_since <= closed_at, false) as is_known
from (
  select closes.*, row_number() over (partition by tenant, stream, period order by closed_at desc) as newest
  from (
    {%- if selects %}
    {{ selects | join('\n    union all\n    ') }}
    {%- else %}
    select {{ protime.text_of('') }} as tenant, {{ protime.text_of('') }} as stream, {{ protime.text_of('') }} as period, current_date as first_day,
      current_date as last_day, {{ protime.now() }} as closed_at, {{ protime.now() }} as known_since where 1 = 0
    {%- endif %}
  ) closes
  where closed_at <= {{ protime.as_of() }}
) numbered where newest = 1
