-- Whether the tables hold what the last sync has handed over: the stream inventory beside the sums of the rows that live.
select
  inventory.tenant, inventory.stream, inventory.records as service_records,
  coalesce(held.records, 0) as warehouse_records,
  case
    when not inventory.is_complete or inventory.records is null then 'not audited'
    when coalesce(held.records, 0) < inventory.records then 'rows missing'
    when coalesce(held.records, 0) > inventory.records then 'rows too many'
    when coalesce(held.keys, '0:0') <> inventory.keys then 'other rows'
    else 'equal' end as verdict,
  inventory.as_of
from {{ ref('stg_protime__inventory') }} inventory
left join {{ ref('int_protime__key_sums') }} held on held.tenant = inventory.tenant and held.stream = inventory.stream
-- After an audit the row of a stream without a day is of the level rows, and has the same counts and sums of keys.
where inventory.part = 'all'
