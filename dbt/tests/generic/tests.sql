{#- Every row has a key, and no other row has the same one. The `optional` columns of the key may be null. -#}
{% test protime_key(model, columns, optional=[]) %}
select {{ (columns + optional) | join(', ') }}, count(*) as copies
from {{ model }}
group by {{ (columns + optional) | join(', ') }}
having count(*) > 1 or {% for column in columns %}{{ column }} is null{{ ' or ' if not loop.last }}{% endfor %}
{% endtest %}

{#-
  Finds values that the schema does not expect: values that are not in the list of their column (`values`), ids without a
  record although their stream is loaded (`parents`: a model by column), periods without a first day or that end before it
  (`periods`), and values that do not fit the type of their column.
-#}
{% test protime_documented(model, values, parents, periods=false) %}
{%- if periods %}
select tenant, 'from_date' as column_name, 'no first day: the period has always been valid' as finding, count(*) as found from {{ model }}
where from_date is null and _unfit_days = 0 group by tenant
union all
select tenant, 'until_date', 'before from_date: the period is left out', count(*) from {{ model }} where until_date < from_date group by tenant
union all
{%- endif %}
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

{#-
  The tables contain what the service has, and somebody knows it of each stream that a model needs. Differences are listed in
  dbt's log, one line per stream and part, and one per tenant without an inventory.
-#}
{% test protime_equal(model) %}
{%- set differing %}
select tenant, stream, part, verdict, service_records, warehouse_records from {{ model }}
where verdict <> 'equal' and ({{ 'false' if var('protime_as_of', none) else 'is_needed' }} or verdict not in ('not audited', 'no inventory'))
{%- endset %}
{%- if execute and flags.WHICH in ['build', 'test'] %}
  {%- set untold = [] %}
  {%- for tenant, stream, part, verdict, service, warehouse in run_query(differing ~ ' order by tenant, stream, part').rows %}
    {%- if verdict != 'no inventory' %}
      {%- set told = 'of which the connector knows no number' if service is none else service ~ ' at the service' %}
      {%- do log(tenant ~ ': ' ~ stream ~ ' ' ~ part ~ ': ' ~ verdict ~ ', ' ~ told ~ ', ' ~ warehouse ~ ' in the warehouse', info=true) %}
    {%- elif tenant not in untold %}
      {%- do untold.append(tenant) %}
      {%- do log(tenant ~ ': the stream inventory is not loaded, so nobody knows whether the tables are complete. Select it in the connector.', info=true) %}
    {%- endif %}
  {%- endfor %}
{%- endif %}
{{ differing }}
{% endtest %}

{#- The marts lack nothing. What they lack is listed in dbt's log, one line per tenant and model. -#}
{% test protime_complete(model) %}
{%- if execute and flags.WHICH in ['build', 'test'] %}
  {%- set lacking = {} %}
  {%- for tenant, mart, columns, missing in run_query('select tenant, model, null_columns, missing from ' ~ model ~ ' order by tenant, model, missing, measure').rows %}
    {%- set lack = lacking.setdefault(tenant ~ ': ' ~ mart, [[], []]) %}
    {%- do lack[0].append(missing) %}
    {%- do lack[1].append(columns) %}
  {%- endfor %}
  {%- for mart, lack in lacking.items() %}
    {%- do log(mart ~ ' lacks ' ~ lack[0] | unique | join(', ') ~ '; unknown: ' ~ lack[1] | unique | join(', '), info=true) %}
  {%- endfor %}
{%- endif %}
select * from {{ model }}
{% endtest %}

{#- Every stream was read in the last protime_max_age_hours, if that is set. -#}
{% test protime_fresh(model, column) %}
{%- set hours = var('protime_max_age_hours', none) %}
select tenant, stream, {{ column }} from {{ model }}
where {{ column ~ ' < ' ~ dbt.dateadd('hour', -(hours | int), protime.now()) if hours else '1 = 0' }}
{% endtest %}

{#- It is known what closed periods were. If not, dbt's log lists the streams, one line per tenant and period. -#}
{% test protime_known_at_close(model) %}
{%- if execute and flags.WHICH in ['build', 'test'] %}
  {%- set unknown = {} %}
  {%- for tenant, period, stream in run_query('select tenant, period, stream from ' ~ model ~ ' where not is_known order by 1, 2, 3').rows %}
    {%- do unknown.setdefault(tenant ~ ': ' ~ period, []).append(stream) %}
  {%- endfor %}
  {%- for period, streams in unknown.items() %}
    {%- do log(period ~ ': no corrections of ' ~ streams | join(', ') ~ ': nobody knows what their rows were when the period was closed', info=true) %}
  {%- endfor %}
{%- endif %}
select * from {{ model }} where not is_known
{% endtest %}
