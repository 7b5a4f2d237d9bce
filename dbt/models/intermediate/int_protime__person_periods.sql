-- One row per person and period without changes, from six histories and the contract.
-- If periods of one kind overlap, the one that starts last is used: an addendum while it lasts, then its contract again.
{%- set kinds = {
    'department': ['department_histories', ['department_id']],
    'employer': ['employer_histories', ['employer_id']],
    'job': ['job_histories', ['job_id']],
    'job_category': ['job_category_histories', ['job_category_id']],
    'sector': ['sector_histories', ['sector_id']],
    'work_location': ['work_location_histories', ['work_location_id']],
    'contract': ['contracts', ['kind', 'contract_hours_in_minutes', 'full_time_equivalent_in_minutes', 'contract_percentage']],
} %}
with
{%- for kind, (stream, columns) in kinds.items() %}
{{ kind }}_periods as (
  select tenant, person_id, id, {{ columns | join(', ') }},
    from_date as valid_from, coalesce(until_date, {{ protime.forever() }}) as valid_until
  from {{ ref('stg_protime__' ~ stream) }}
  where person_id is not null and from_date <= coalesce(until_date, {{ protime.forever() }})
),
{%- endfor %}
bounds as (
  {%- for kind in kinds %}
  select tenant, person_id, valid_from from {{ kind }}_periods
  union
  select tenant, person_id, cast({{ dbt.dateadd('day', 1, 'valid_until') }} as date)
  from {{ kind }}_periods where valid_until < {{ protime.forever() }}
  {{- ' union' if not loop.last }}
  {%- endfor %}
),
periods as (
  select tenant, person_id, valid_from,
    coalesce(
      cast({{ dbt.dateadd('day', -1, 'lead(valid_from) over (partition by tenant, person_id order by valid_from)') }} as date),
      {{ protime.forever() }}) as valid_until
  from bounds
),
{%- for kind, (stream, columns) in kinds.items() %}
{{ kind }}_at as (
  select * from (
    select periods.tenant, periods.person_id, periods.valid_from, p.id, p.{{ columns | join(', p.') }},
      row_number() over (
        partition by periods.tenant, periods.person_id, periods.valid_from order by p.valid_from desc, p.id desc
      ) as newest
    from periods
    join {{ kind }}_periods p
      on p.tenant = periods.tenant and p.person_id = periods.person_id
      and periods.valid_from between p.valid_from and p.valid_until
  ) covering where newest = 1
){{ ',' if not loop.last }}
{%- endfor %}
select
  periods.tenant, periods.person_id, periods.valid_from, periods.valid_until,
  department_at.department_id, employer_at.employer_id, job_at.job_id, job_category_at.job_category_id,
  sector_at.sector_id, work_location_at.work_location_id,
  contract_at.id as contract_id, contract_at.kind as contract_kind, contract_at.contract_hours_in_minutes,
  contract_at.full_time_equivalent_in_minutes, contract_at.contract_percentage,
  case when contract_at.full_time_equivalent_in_minutes > 0
    then 1.0 * contract_at.contract_hours_in_minutes / contract_at.full_time_equivalent_in_minutes
    else contract_at.contract_percentage / 100.0 end as fte
from periods
{%- for kind in kinds %}
left join {{ kind }}_at
  on {{ kind }}_at.tenant = periods.tenant and {{ kind }}_at.person_id = periods.person_id
  and {{ kind }}_at.valid_from = periods.valid_from
{%- endfor %}
-- Days without any data get no period.
where coalesce({% for kind in kinds %}{{ kind }}_at.id{{ ', ' if not loop.last }}{% endfor %}) is not null
