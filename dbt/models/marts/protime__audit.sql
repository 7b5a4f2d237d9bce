-- Whether the tables contain what the last sync has sent: compares the stream inventory with the sums of their rows.
with compared as (
  select
    coalesce(told.tenant, held.tenant) as tenant, coalesce(told.stream, held.stream) as stream, coalesce(told.part, held.part) as part,
    case when coalesce(told.level, held.level) = 'keys' then 'keys' when told.columns <> held.columns then 'versions' else 'values' end as level,
    -- A month that is missing in the inventory or in the table has no rows there.
    case when told.stream is null then 0 when told.is_complete then told.records end as service_records,
    coalesce(held.records, 0) as warehouse_records,
    coalesce(held.keys, '0:0') <> coalesce(told.keys, '0:0') as has_other_keys,
    coalesce(held.versions <> told.versions, false) as has_other_versions,
    coalesce(held.content <> told.content, false) as has_other_content,
    coalesce(told.as_of, held.as_of) as as_of
  from {{ ref('stg_protime__inventory') }} told
  full outer join {{ ref('int_protime__stream_sums') }} held on held.tenant = told.tenant and held.stream = told.stream and held.part = told.part and held.level = told.level
  -- Streams without an inventory cannot be compared.
  where told.stream is not null or held.level = 'rows'
)
select tenant, stream, part, level, service_records, warehouse_records,
  case
    when service_records is null then 'not audited'
    when warehouse_records < service_records then 'rows missing'
    when warehouse_records > service_records then 'rows too many'
    when has_other_keys then 'other rows'
    when has_other_versions then 'old rows'
    when level = 'values' and has_other_content then 'values changed'
    else 'equal' end as verdict,
  as_of
from compared
