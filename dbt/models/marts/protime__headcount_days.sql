-- People in service and their full-time equivalents, by day, department and employer.
with days as (
  select
    p.tenant, days.date_day, h.department_id, h.department_name, h.employer_id, h.employer_name,
    count(*) as headcount, {{ protime.total('h.fte', 'h.contract_id is not null') }} as fte
  from {{ ref('protime__days') }} days
  join {{ ref('stg_protime__people') }} p
    on (p.in_service_date is null or p.in_service_date <= days.date_day)
    and (p.out_of_service_date is null or p.out_of_service_date >= days.date_day)
  left join {{ ref('protime__person_history') }} h
    on h.tenant = p.tenant and h.person_id = p.id and days.date_day between h.valid_from and h.valid_until
  group by 1, 2, 3, 4, 5, 6
)
select
  d.tenant, d.date_day, d.department_id, d.department_name, d.employer_id, d.employer_name,
  case when known.headcount then d.headcount end as headcount, case when known.headcount and known.fte then d.fte end as fte
from days d
join {{ protime.known('protime__headcount_days') }} known on known.tenant = d.tenant
