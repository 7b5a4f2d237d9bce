{#- Every row has the key, and no other row has it; of `optional` columns of the key a row may have none. -#}
{% test protime_key(model, columns, optional=[]) %}
select {{ (columns + optional) | join(', ') }}, count(*) as copies
from {{ model }}
group by {{ (columns + optional) | join(', ') }}
having count(*) > 1 or {% for column in columns %}{{ column }} is null{{ ' or ' if not loop.last }}{% endfor %}
{% endtest %}

{#-
  What the schema does not expect: values of an enumeration that it does not list (`values`: a list by column), ids whose
  stream is loaded and has no such record (`parents`: a model by column), values that do not fit the type of their column.
-#}
{% test protime_documented(model, values, parents) %}
{%- for column, known in values.items() %}
select tenant, '{{ column }}' as column_name, 'not a known value' as finding, count(*) as found from {{ model }}
where {{ column }} not in ('{{ known | join("', '") }}') group by tenant
union all
{%- endfor %}
{%- for column, parent in parents.items() %}
select child.tenant, '{{ column }}', 'no such record in {{ parent }}', count(*)
from {{ model }} child
left join {{ ref(parent) }} parent on parent.tenant = child.tenant and parent.id = child.{{ column }}
where child.{{ column }} is not null and parent.id is null
  and child.tenant in (select tenant from {{ ref(parent) }})
group by child.tenant
union all
{%- endfor %}
select tenant, '_unfit_values', 'not of the type of their column', sum(_unfit_values) from {{ model }}
where _unfit_values > 0 group by tenant
{% endtest %}

{#- No two periods of the same thing have a day in common. -#}
{% test protime_disjoint(model, columns) %}
select * from (
  select {{ columns | join(', ') }}, valid_from,
    lag(valid_until) over (partition by {{ columns | join(', ') }} order by valid_from) as previous_until
  from {{ model }}
) periods where previous_until >= valid_from
{% endtest %}

{#- A model neither loses nor repeats what it is made of. -#}
{% test protime_same_sum(model, column, other, other_column) %}
select * from (
  select
    (select coalesce(sum({{ column }}), 0) from {{ model }}) as here,
    (select coalesce(sum({{ other_column }}), 0) from {{ other }}) as there
) sums where here <> there
{% endtest %}

{#- The tables hold what the service has. What differs is named in dbt's log, a line per stream and part. -#}
{% test protime_equal(model) %}
{%- set differing %}
select tenant, stream, part, verdict, service_records, warehouse_records from {{ model }}
where verdict not in ('equal', 'not audited')
{%- endset %}
{%- if execute and flags.WHICH in ['build', 'test'] %}
  {%- for tenant, stream, part, verdict, service, warehouse in run_query(differing ~ ' order by tenant, stream, part').rows %}
    {%- do log(tenant ~ ': ' ~ stream ~ ' ' ~ part ~ ': ' ~ verdict ~ ', ' ~ service ~ ' at the service, ' ~ warehouse ~ ' in the warehouse', info=true) %}
  {%- endfor %}
{%- endif %}
{{ differing }}
{% endtest %}

{#- No stream was read longer ago than protime_max_age_hours, where that is set. -#}
{% test protime_fresh(model, column) %}
{%- set hours = var('protime_max_age_hours', none) %}
select tenant, stream, {{ column }} from {{ model }}
where {{ column ~ ' < ' ~ dbt.dateadd('hour', -(hours | int), protime.now()) if hours else '1 = 0' }}
{% endtest %}
