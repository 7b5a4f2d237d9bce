{#- A name in the language protime_language if it has a translation, otherwise in the default language. -#}
{% macro name_of(alias, column='name') %}
  {%- set language = var('protime_language', none) -%}
  {{- return('coalesce(' ~ protime.member(alias ~ '.' ~ column ~ '_translations', language) ~ ', ' ~ alias ~ '.' ~ column ~ '_default)'
    if language else alias ~ '.' ~ column ~ '_default') -}}
{% endmacro %}

{% macro today() %}
  {{- return("cast('" ~ var('protime_now') ~ "' as date)" if var('protime_now', none) else 'current_date') -}}
{% endmacro %}

{#- The current time in UTC, or the beginning of the day protime_now if it is set. -#}
{% macro now() %}
  {{- return("cast('" ~ var('protime_now') ~ "' as " ~ dbt.type_timestamp() ~ ")" if var('protime_now', none) else protime.now_utc()) -}}
{% endmacro %}

{#- The last day of a period without an end. -#}
{% macro forever() %}{{ return("cast('9999-12-31' as date)") }}{% endmacro %}
