-- Every day from the first to the last one with calculated totals, or to today if that is later.
with bounds as (
  select min(date_day) as first_day, max(date_day) as last_day
  from (
    select min(date_day) as date_day from {{ ref('stg_protime__calculated_totals') }}
    union all select max(date_day) from {{ ref('stg_protime__calculated_totals') }}
    union all select {{ protime.today() }}
  ) ends
)
{{ protime.days('(select first_day from bounds)', '(select last_day from bounds)') }}
