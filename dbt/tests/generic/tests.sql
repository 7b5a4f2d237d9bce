{#- Every row has a key, and no other row has the same one. The `optional` columns of the key may be null. -#}
{% test protime_key(model, columns, optional=[]) %}
select {{ (columns + optional) | join(', ') }}, count(*) as copies
from {{ model }}
group by {{ (columns + optional) | join(', ') }}
having count(*) > 1 or {% for column in columns %}{{ column }} is null{{ ' or ' if not loop.last }}{% endfor %}
{% endtest %}

{#-
  Finds values that the schema does not expect: values that are not in the list of their column (`values`), ids without a
  record although their stream is loaded (`parents`: a model by column), and values that do not fit the type of their column.
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

{#- Periods with the same key do not overlap. -#}
{% test protime_disjoint(model, columns) %}
select * from (
  select {{ columns | join(', ') }}, valid_from,
    lag(valid_until) over (partition by {{ columns | join(', ') }} order by valid_from) as previous_until
  from {{ model }}
) periods where previous_until >= valid_from
{% endtest %}

{#- The sum of a column is the same as in the model that it comes from: no row is lost or repeated. -#}
{% test protime_same_sum(model, column, other, other_column) %}
select * from (
  select
    (select coalesce(sum({{ column }}), 0) from {{ model }}) as here,
    (select coalesce(sum({{ other_column }}), 0) from {{ other }}) as there
) sums where here <> there
{% endtest %}

{#- The tables contain what the service has. Differences are listed in dbt's log, one line per stream and part. -#}
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

{#- Every stream was read in the last protime_max_age_hours, if that is set. -#}
{% test protime_fresh(model, column) %}
{%- set hours = var('protime_max_age_hours', none) %}
select tenant, stream, {{ column }} from {{ model }}
where {{ column ~ ' < ' ~ dbt.dateadd('hour', -(hours | int), protime.now()) if hours else '1 = 0' }}
{% endtest %}
