{#- The SQL that differs between warehouses. To add a warehouse, write these macros with its name instead of `duckdb`. -#}

{% macro type_json() %}{{ return(adapter.dispatch('type_json', 'protime')()) }}{% endmacro %}
{% macro default__type_json() %}
  {{ exceptions.raise_compiler_error('The package protime does not support ' ~ target.type ~ ' yet. To add it, write its macros in macros/adapters.sql.') }}
{% endmacro %}
{% macro duckdb__type_json() %}{{ return('json') }}{% endmacro %}
{% macro postgres__type_json() %}{{ return('jsonb') }}{% endmacro %}

{% macro type_number() %}{{ return(adapter.dispatch('type_number', 'protime')()) }}{% endmacro %}
{% macro duckdb__type_number() %}{{ return('double') }}{% endmacro %}
{% macro postgres__type_number() %}{{ return('double precision') }}{% endmacro %}

{#- Whether a column of this type is text or JSON, so that its values have to be cast. -#}
{% macro is_text(dtype) %}{{ return(adapter.dispatch('is_text', 'protime')(dtype | lower)) }}{% endmacro %}
{% macro duckdb__is_text(dtype) %}{{ return(dtype.startswith('varchar') or dtype in ['text', 'json']) }}{% endmacro %}
{% macro postgres__is_text(dtype) %}{{ return(dtype.startswith('character') or dtype in ['text', 'json', 'jsonb']) }}{% endmacro %}

{#- The value of a column, or of its member at the path `steps`: as JSON if `type` is json, otherwise as text or in the column's own type. -#}
{% macro value_at(column, dtype, steps, type) %}{{ return(adapter.dispatch('value_at', 'protime')(column, dtype | lower, steps, type)) }}{% endmacro %}

{% macro duckdb__value_at(column, dtype, steps, type) %}
  {%- set path = "'$" ~ ('."' ~ steps | join('"."') ~ '"' if steps) ~ "'" -%}
  {%- if type == 'json' -%}
    {#- JSON null becomes null. -#}
    {{ return("nullif(json_extract(" ~ ('to_json(' ~ column ~ ')' if not protime.is_text(dtype) else column) ~ ", " ~ path ~ "), 'null'::json)") }}
  {%- endif -%}
  {{ return('json_extract_string(' ~ column ~ ', ' ~ path ~ ')' if steps or dtype == 'json' else column) }}
{% endmacro %}

{% macro postgres__value_at(column, dtype, steps, type) %}
  {%- if type != 'json' and not steps and dtype not in ['json', 'jsonb'] -%}{{ return(column) }}{%- endif -%}
  {%- set json = 'cast(' ~ column ~ ' as jsonb)' if protime.is_text(dtype) else 'to_jsonb(' ~ column ~ ')' -%}
  {%- set path = "'{" ~ steps | join(',') ~ "}'" -%}
  {#- JSON null becomes null: target-postgres stores a missing object as JSON null. -#}
  {{ return("nullif(" ~ json ~ " #> " ~ path ~ ", 'null'::jsonb)" if type == 'json' else '(' ~ json ~ ' #>> ' ~ path ~ ')') }}
{% endmacro %}

{#- One member of an object without a schema, as text. -#}
{% macro member(json, name) %}{{ return(adapter.dispatch('member', 'protime')(json, name | replace("'", "''"))) }}{% endmacro %}
{% macro duckdb__member(json, name) %}{{ return("json_extract_string(" ~ json ~ ", '$.\"" ~ name ~ "\"')") }}{% endmacro %}
{% macro postgres__member(json, name) %}{{ return("(" ~ json ~ " ->> '" ~ name ~ "')") }}{% endmacro %}

{#- Parses a text as an integer, a number, a boolean, a date or a time in UTC; null if it is not valid. The time of a date is ignored. -#}
{% macro parsed(text, type) %}{{ return(adapter.dispatch('parsed', 'protime')(text, type)) }}{% endmacro %}

{#- The form is checked first, because casts differ between warehouses: those of DuckDB accept `1_000` and round `480.5`. -#}
{% macro duckdb__parsed(text, type) %}
  {%- if type in ['integer', 'number'] -%}
    {{ return("case when regexp_matches(" ~ text ~ ", '" ~ protime.form_of(type) ~ "') then try_cast(" ~ text ~ " as " ~ protime.type_of(type) ~ ") end") }}
  {%- endif -%}
  {%- set of = 'substr(' ~ text ~ ', 1, 10)' if type == 'date' else text -%}
  {{ return('try_cast(' ~ of ~ ' as ' ~ protime.type_of(type) ~ ')') }}
{% endmacro %}

{#- Before version 16, PostgreSQL has no cast that returns null for an invalid text. So a date is checked to exist in its month. -#}
{% macro postgres__parsed(text, type) %}
  {%- if type == 'date' -%}
    {%- set first = "cast(substr(" ~ text ~ ", 1, 7) || '-01' as date)" -%}
    {{ return("case when " ~ text ~ " ~ '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'"
      ~ " then case when extract(day from " ~ first ~ " + interval '1 month - 1 day') >= cast(substr(" ~ text ~ ", 9, 2) as integer)"
      ~ " then cast(substr(" ~ text ~ ", 1, 10) as date) end end") }}
  {%- endif -%}
  {{ return("case when " ~ text ~ " ~ '" ~ protime.form_of(type) ~ "' then cast(" ~ text ~ " as " ~ protime.type_of(type) ~ ") end") }}
{% endmacro %}

{% macro form_of(type) %}
  {{ return({'integer': '^-?[0-9]{1,18}$', 'number': '^-?[0-9]{1,200}([.][0-9]+)?([eE][+-]?[0-9]{1,2})?$', 'boolean': '^(true|false)$',
    'timestamp': '^[12][0-9]{3}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]([.][0-9]+)?Z$'}[type]) }}
{% endmacro %}

{#- A date as YYYY-MM-DD, whatever the settings of the session. -#}
{% macro day_text(day) %}{{ return(adapter.dispatch('day_text', 'protime')(day)) }}{% endmacro %}
{% macro duckdb__day_text(day) %}{{ return("strftime(" ~ day ~ ", '%Y-%m-%d')") }}{% endmacro %}
{% macro postgres__day_text(day) %}{{ return("to_char(" ~ day ~ ", 'YYYY-MM-DD')") }}{% endmacro %}

{#- Eight hexadecimal digits of a text, starting at position `at`, as a bigint. -#}
{% macro of_digits(text, at) %}{{ return(adapter.dispatch('of_digits', 'protime')(text, at)) }}{% endmacro %}
{% macro duckdb__of_digits(text, at) %}{{ return("cast('0x' || substr(" ~ text ~ ", " ~ at ~ ", 8) as bigint)") }}{% endmacro %}
{% macro postgres__of_digits(text, at) %}{{ return("cast(cast('x' || substr(" ~ text ~ ", " ~ at ~ ", 8) as bit(32)) as bigint)") }}{% endmacro %}

{#- The current time, and the time in a column, in UTC and without a time zone. -#}
{% macro now_utc() %}{{ return(adapter.dispatch('now_utc', 'protime')()) }}{% endmacro %}
{% macro default__now_utc() %}{{ return("(current_timestamp at time zone 'UTC')") }}{% endmacro %}
{% macro utc(time, dtype) %}
  {{ return('(' ~ time ~ " at time zone 'UTC')" if 'with time zone' in dtype | lower or dtype | lower == 'timestamptz' else time) }}
{% endmacro %}

{#- The days from `first` to `last`, both included, as the column `date_day`. -#}
{% macro days(first, last) %}{{ return(adapter.dispatch('days', 'protime')(first, last)) }}{% endmacro %}
{% macro duckdb__days(first, last) %}{{ return('select cast(day as date) as date_day from (select unnest(generate_series(' ~ first ~ ', ' ~ last ~ ', interval 1 day)) as day) days') }}{% endmacro %}
{% macro postgres__days(first, last) %}{{ return("select cast(day as date) as date_day from generate_series(" ~ first ~ ", " ~ last ~ ", interval '1 day') day") }}{% endmacro %}
