{#- What lives of a stream, by tenant: how many rows, and sums of their keys, as the stream inventory has them. -#}
{% macro key_sums(stream, key) %}
select tenant, '{{ stream }}' as stream, count(*) as records, {{ protime.sums_of(key) }} as keys
from {{ ref('stg_protime__' ~ stream) }} group by tenant
{% endmacro %}

{#-
  Two sums that do not depend on the order of rows. Of an id that is an integer, [['id', 'integer']]: of the ids, and of the
  squares of their remainders by 1000003. Of other keys: of the first and of the second 32 bits of the MD5 of their text.
-#}
{% macro sums_of(key) %}
  {%- if key | length == 1 and key[0][1] == 'integer' -%}
    {%- set rest = '(' ~ key[0][0] ~ ' % 1000003)' -%}
    {%- set parts = ['sum(' ~ key[0][0] ~ ')', 'sum(' ~ rest ~ ' * ' ~ rest ~ ')'] -%}
  {%- else -%}
    {%- set text = key | map('first') | join(" || chr(31) || ") -%}
    {%- set parts = ['sum(' ~ protime.hash32(text, 1) ~ ')', 'sum(' ~ protime.hash32(text, 9) ~ ')'] -%}
  {%- endif -%}
  {{- return("cast(" ~ parts[0] ~ " as " ~ dbt.type_string() ~ ") || ':' || cast(" ~ parts[1] ~ " as " ~ dbt.type_string() ~ ")") -}}
{% endmacro %}
