{#- A name in the language of the variable protime_language where it has one, else in the default language. -#}
{% macro name_of(alias, column='name') %}
  {%- set language = var('protime_language', none) -%}
  {{- return('coalesce(' ~ protime.member(alias ~ '.' ~ column ~ '_translations', language) ~ ', ' ~ alias ~ '.' ~ column ~ '_default)'
    if language else alias ~ '.' ~ column ~ '_default') -}}
{% endmacro %}

{% macro today() %}
  {{- return("cast('" ~ var('protime_now') ~ "' as date)" if var('protime_now', none) else 'current_date') -}}
{% endmacro %}

{#- The present time in UTC; the beginning of the day where one is given. -#}
{% macro now() %}
  {{- return("cast('" ~ var('protime_now') ~ "' as " ~ dbt.type_timestamp() ~ ")" if var('protime_now', none) else protime.now_utc()) -}}
{% endmacro %}

{#- The end of a period that has none. -#}
{% macro forever() %}{{ return("cast('9999-12-31' as date)") }}{% endmacro %}
