{#- The rows of a stream by tenant, without deleted ones: their number and the sums of their keys, as in the stream inventory at the level keys. -#}
{% macro key_sums(stream, key) %}
select tenant, '{{ stream }}' as stream, 'all' as part, 'keys' as level, cast(null as {{ dbt.type_string() }}) as columns,
  cast(null as {{ dbt.type_timestamp() }}) as as_of, count(*) as records, {{ protime.sums_of_keys(key) }} as keys,
  cast(null as {{ dbt.type_string() }}) as versions, cast(null as {{ dbt.type_string() }}) as content
from {{ ref('stg_protime__' ~ stream) }} group by tenant
{% endmacro %}

{#-
  The sums of a stream that was audited, without deleted rows, as in the stream inventory at the level rows: by tenant and
  month, or by tenant if the stream has no dates. `columns` identifies the columns that `_content_hash` covers.
-#}
{% macro row_sums(stream, key, version, day, columns) %}
select tenant, stream, part, 'rows' as level, '{{ columns }}' as columns, max(as_of) as as_of,
  count(*) as records, {{ protime.sums_of_keys(key) }} as keys,
  {{ protime.sums_of_digests('version_hash') }} as versions, {{ protime.sums_of_digests('_content_hash') }} as content
from (
  select held.*, '{{ stream }}' as stream, audited.as_of,
    {{ protime.month_of('held.' ~ day) if day else "'all'" }} as part,
    {{ dbt.hash(protime.version_text(key, version)) }} as version_hash
  from {{ ref('stg_protime__' ~ stream) }} held
  join (
    select tenant, min(from_date) as from_date, max(until_date) as until_date, max(as_of) as as_of
    from {{ ref('stg_protime__inventory') }} where stream = '{{ stream }}' and level = 'rows' and is_complete group by tenant
  ) audited on audited.tenant = held.tenant
  {%- if day %}
    -- The connector did not list rows of other days.
    and (held.{{ day }} is null or held.{{ day }} between coalesce(audited.from_date, held.{{ day }}) and coalesce(audited.until_date, held.{{ day }}))
  {%- endif %}
) listed
group by tenant, stream, part
{% endmacro %}

{#-
  Two sums that do not depend on the order of rows. If the key is an integer, [['id', 'integer']], they are the sum of the ids
  and the sum of the squares of their remainders by 1000003. For other keys, they are the sums of the digests of their texts.
-#}
{% macro sums_of_keys(key) %}
  {%- if key | length == 1 and key[0][1] == 'integer' -%}
    {%- set rest = '(' ~ key[0][0] ~ ' % 1000003)' -%}
    {{- return(protime.two_sums(key[0][0], rest ~ ' * ' ~ rest)) -}}
  {%- endif -%}
  {{- return(protime.sums_of_digests(dbt.hash(protime.key_text(key)))) -}}
{% endmacro %}

{#- The sums of the first and of the second 32 bits of MD5 hashes. -#}
{% macro sums_of_digests(digest) %}
  {{- return(protime.two_sums(protime.of_digits(digest, 1), protime.of_digits(digest, 9))) -}}
{% endmacro %}

{% macro two_sums(first, second) %}
  {{- return("cast(sum(" ~ first ~ ") as " ~ dbt.type_string() ~ ") || ':' || cast(sum(" ~ second ~ ") as " ~ dbt.type_string() ~ ")") -}}
{% endmacro %}

{% macro key_text(key) %}
  {%- set texts = [] -%}
  {%- for name, _ in key %}{% do texts.append('cast(' ~ name ~ ' as ' ~ dbt.type_string() ~ ')') %}{% endfor -%}
  {{- return(texts | join(' || chr(31) || ')) -}}
{% endmacro %}

{#- The text of a key and its version. `version` is a column, or none. -#}
{% macro version_text(key, version) %}
  {{- return(protime.key_text(key) ~ (" || chr(31) || coalesce(" ~ version ~ ", '')" if version else '')) -}}
{% endmacro %}

{% macro month_of(day) %}
  {{- return("coalesce(substr(" ~ protime.day_text(day) ~ ", 1, 7), 'none')") -}}
{% endmacro %}

{#- The value of a loaded column as the text that the inventory sums; null if it has none. -#}
{% macro summed_text(raw, type, dtype) %}
  {%- set is_text = protime.is_text(dtype) -%}
  {%- if type == 'number' -%}
    {%- set number = protime.nearest_number(raw) if is_text else 'cast(' ~ raw ~ ' as ' ~ protime.type_of(type) ~ ')' -%}
    {#- Rounded explicitly, because databases differ in how they round halves. -#}
    {{- return("case when abs(" ~ number ~ ") <= 9007199254 then cast(cast(floor(" ~ number ~ " * 1000000 + 0.5) as "
      ~ dbt.type_bigint() ~ ") as " ~ dbt.type_string() ~ ") end") -}}
  {%- elif type == 'date' -%}
    {{- return('substr(' ~ raw ~ ', 1, 10)' if is_text else protime.day_text('cast(' ~ raw ~ ' as date)')) -}}
  {%- elif is_text -%}
    {{- return(raw) -}}
  {%- endif -%}
  {{- return('cast(' ~ raw ~ ' as ' ~ dbt.type_string() ~ ')') -}}
{% endmacro %}
