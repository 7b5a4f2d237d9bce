-- What the marts lack: one row per tenant, model, measure and missing input. A stream is missing if it has no table, or if its
-- table is empty and no inventory says that the service has no rows either: the client may not read it, or nobody has.
{%- set as_of = var('protime_as_of', none) %}
{%- set names = var('protime_overtime_counters', none) or [] %}
{%- set quoted = [] %}
{%- for name in names %}{% do quoted.append(protime.text_of(name)) %}{% endfor %}
{%- set missing = {} %}
with tables as (
  {%- for tenant in protime.tenants() %}
  {%- set last_tenant = loop.last %}
  {%- for stream in protime.needed_streams() %}
  {%- set relation = protime.known_table(tenant, stream) %}
  {%- set present = protime.columns_of(relation) %}
  {%- set form = stream ~ protime.form_of_table(present) %}
  {%- if form not in missing %}{% do missing.update({form: protime.missing_fields(present, stream) | join('|')}) %}{% endif %}
  select {{ protime.text_of(tenant.name) }} as tenant, '{{ stream }}' as stream, {{ 0 if relation is none else 1 }} as is_loaded,
    '|{{ missing[form] }}|' as fields
  {{- ' union all' if not (last_tenant and loop.last) }}
  {%- endfor %}
  {%- endfor %}
),
-- Streams of which rows, or their absence, are known.
held as (
  select tenant, stream from {{ ref('int_protime__stream_sums') }} where level = 'keys'
  union
  select tenant, stream from {{ ref('stg_protime__inventory') }} where part = 'all' and is_complete and records = 0
  {%- if as_of %}
  -- The inventory tells nothing of then. A stream whose history had begun had been read.
  union
  select tenant, stream from tables where is_loaded = 1
  {%- endif %}
),
needs as (
  {%- set selects = [] %}
  {%- for model, inputs in protime.inputs().items() %}
  {%- for columns, needs in inputs %}
  {%- for stream, fields in needs.items() %}
  {%- for field in fields %}
  {%- do selects.append("select '" ~ model ~ "' as model, '" ~ columns[0] ~ "' as measure, '" ~ columns | join(', ')
      ~ "' as null_columns, '" ~ stream ~ "' as stream, '" ~ field ~ "' as field") %}
  {%- endfor %}
  {%- endfor %}
  {%- endfor %}
  {%- endfor %}
  {{ selects | join(' union all\n  ') }}
),
-- Counters that are named and that the tenant has. Of several tenants, each may have counters of its own.
overtime as (
  select tenant, count(distinct name_default) as counters from {{ ref('stg_protime__counter_definitions') }}
  where {{ 'name_default in (' ~ quoted | join(', ') ~ ')' if quoted else '1 = 0' }} group by tenant
)
select distinct
  tables.tenant, needs.model, needs.measure, needs.null_columns,
  case when tables.is_loaded = 0 then tables.stream || ' ({{ 'not known at protime_as_of' if as_of else 'no table' }})' when held.stream is null then tables.stream || ' (no rows)'
    else tables.stream || '.' || needs.field end as missing
from needs
join tables on tables.stream = needs.stream
left join held on held.tenant = tables.tenant and held.stream = tables.stream
where tables.is_loaded = 0 or held.stream is null or tables.fields like '%|' || needs.field || '|%'
union all
select tenants.tenant, needs.model, needs.measure, needs.null_columns,
  {% if names %}'a counter that ' || needs.field || ' names'{% else %}'the variable ' || needs.field{% endif %}
from held tenants
join needs on needs.stream = 'variables'
left join overtime on overtime.tenant = tenants.tenant
where tenants.stream = 'counter_definitions' and coalesce(overtime.counters, 0) < {{ [1, names | unique | list | length if protime.tenants() | length == 1 else 1] | max }}
