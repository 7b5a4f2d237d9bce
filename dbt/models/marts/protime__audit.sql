-- Whether the tables contain what the last sync has sent: compares the stream inventory with the sums of their rows.
with told as (
  select * from {{ ref('stg_protime__inventory') }}
),
streams as (
  select distinct tenant, stream from told
),
tenants as (
  select distinct tenant from told
),
compared as (
  select
    coalesce(told.tenant, held.tenant) as tenant, coalesce(told.stream, held.stream) as stream, coalesce(told.part, held.part) as part,
    case when coalesce(told.level, held.level) = 'keys' then 'keys' when told.columns <> held.columns then 'versions' else 'values' end as level,
    -- A month that is missing in the inventory or in the table has no rows there.
    case when told.stream is null and held.level = 'rows' then 0 when told.is_complete then told.records end as service_records,
    coalesce(held.records, 0) as warehouse_records,
    coalesce(held.keys, '0:0') <> coalesce(told.keys, '0:0') as has_other_keys,
    coalesce(held.versions <> told.versions, false) as has_other_versions,
    coalesce(held.content <> told.content, false) as has_other_content,
    coalesce(told.as_of, held.as_of) as as_of
  from told
  full outer join {{ ref('int_protime__stream_sums') }} held on held.tenant = told.tenant and held.stream = told.stream and held.part = told.part and held.level = told.level
  left join streams on streams.tenant = held.tenant and streams.stream = held.stream
  -- An inventory of a stream may have its rows alone, without its keys.
  where told.stream is not null or held.level = 'rows' or streams.stream is null
)
select compared.tenant, stream, part, level, service_records, warehouse_records,
  case
    when tenants.tenant is null then 'no inventory'
    when service_records is null {{ 'or true ' if var('protime_as_of', none) }}then 'not audited'
    when warehouse_records < service_records then 'rows missing'
    when warehouse_records > service_records then 'rows too many'
    when has_other_keys then 'other rows'
    when has_other_versions then 'old rows'
    when level = 'values' and has_other_content then 'values changed'
    else 'equal' end as verdict,
  stream in ('{{ protime.needed_streams() | join("', '") }}') as is_needed,
  as_of
from compared
left join tenants on tenants.tenant = compared.tenant
