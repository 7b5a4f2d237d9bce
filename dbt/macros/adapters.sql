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
  {%- if dtype == 'json' and not steps -%}
    {#- DuckDB reads numbers as doubles. The text of a whole column has all digits. -#}
    {{ return("case json_type(" ~ column ~ ") when 'NULL' then null when 'VARCHAR' then json_extract_string(" ~ column ~ ", '$') else cast(" ~ column ~ " as varchar) end") }}
  {%- endif -%}
  {{ return('json_extract_string(' ~ column ~ ', ' ~ path ~ ')' if steps else column) }}
{% endmacro %}

{% macro postgres__value_at(column, dtype, steps, type) %}
  {%- if type != 'json' and not steps and dtype not in ['json', 'jsonb'] -%}{{ return(column) }}{%- endif -%}
  {%- set json = 'to_json(' ~ column ~ ')' -%}
  {%- if dtype != 'jsonb' and protime.is_text(dtype) -%}
    {#- PostgreSQL reads no member of JSON that has a NUL. `json` keeps the form of numbers, which jsonb does not. -#}
    {%- set json = "cast(replace(cast(" ~ column ~ " as text), '\\u0000', '\\ufffd') as json)" -%}
  {%- endif -%}
  {%- set path = "'{" ~ steps | join(',') ~ "}'" -%}
  {#- JSON null becomes null: target-postgres stores a missing object as JSON null. -#}
  {{ return("nullif(cast(" ~ json ~ " #> " ~ path ~ " as jsonb), 'null'::jsonb)" if type == 'json' else '(' ~ json ~ ' #>> ' ~ path ~ ')') }}
{% endmacro %}

{#- One member of an object without a schema, as text. -#}
{% macro member(json, name) %}{{ return(adapter.dispatch('member', 'protime')(json, name | replace("'", "''"))) }}{% endmacro %}
{% macro duckdb__member(json, name) %}{{ return("json_extract_string(" ~ json ~ ", '$.\"" ~ name ~ "\"')") }}{% endmacro %}
{% macro postgres__member(json, name) %}{{ return("(" ~ json ~ " ->> '" ~ name ~ "')") }}{% endmacro %}

{#- Whether a text matches a regular expression. -#}
{% macro matches(text, form) %}{{ return(adapter.dispatch('matches', 'protime')(text, form)) }}{% endmacro %}
{% macro duckdb__matches(text, form) %}{{ return("regexp_matches(" ~ text ~ ", '" ~ form ~ "')") }}{% endmacro %}
{% macro postgres__matches(text, form) %}{{ return(text ~ " ~ '" ~ form ~ "'") }}{% endmacro %}

{#-
  The value of a text as an integer, a number, a boolean, a date or a time in UTC; null if it does not fit. Nothing is rounded or
  guessed: the cases are in integration_tests/fitting-values.json. The form is checked first, because casts differ between
  warehouses and accept more: those of DuckDB take `1_000` and round `3.5`, those of PostgreSQL take `epoch` and fail otherwise.
-#}
{% macro parsed(text, type, is_member=false) %}{{ return(adapter.dispatch('parsed', 'protime')(text, type, is_member)) }}{% endmacro %}

{% macro duckdb__parsed(text, type, is_member) %}
  {%- set cast = 'try_cast(' ~ ('substr(' ~ text ~ ', 1, 10)' if type == 'date' else text) ~ ' as ' ~ protime.type_of(type) ~ ')' -%}
  {%- if type == 'timestamp' -%}{%- set cast = protime.of_zone(text, cast, 'try_cast') -%}{%- endif -%}
  {%- if type == 'number' -%}
    {#- 15 digits always fit into a double. More fit if it is printed with the same ones. -#}
    {%- set digits = "trim(regexp_replace(" ~ text ~ ", '[eE].*|[-.]', '', 'g'), '0')" -%}
    {%- set cast = "case when isfinite(" ~ cast ~ ") and (" ~ cast ~ " = 0) = (" ~ digits ~ " = '') and (length(" ~ digits ~ ") <= 15 or " ~ protime.without_zeros(text) ~ " = "
      ~ protime.without_zeros('cast(' ~ cast ~ ' as varchar)') ~ ") then " ~ cast ~ " end" -%}
  {%- endif -%}
  {{ return("case when " ~ protime.matches(text, protime.form_of(type)) ~ " then " ~ cast ~ " end") }}
{% endmacro %}

{% macro without_zeros(number) %}{{ return("regexp_replace(" ~ number ~ ", '([.][0-9]*[1-9])0+$|[.]0+$', '\\1')") }}{% endmacro %}

{#- A time without a time zone is in UTC. -#}
{% macro of_zone(text, plain, cast) %}
  {{ return("case when " ~ protime.matches(text, '(Z|[+-][0-9]{2}:[0-9]{2})$') ~ ' then ' ~ cast ~ '(' ~ text ~ " as timestamp with time zone) at time zone 'UTC' else "
    ~ plain ~ " end") }}
{% endmacro %}

{#- Before version 16, PostgreSQL has no cast that returns null for an invalid text. -#}
{% macro postgres__parsed(text, type, is_member) %}
  {%- set cast = 'cast(' ~ ('substr(' ~ text ~ ', 1, 10)' if type == 'date' else text) ~ ' as ' ~ protime.type_of(type) ~ ')' -%}
  {%- if type == 'integer' -%}
    {%- set fits = 'cast(' ~ text ~ ' as numeric) between -9223372036854775808 and 9223372036854775807' -%}
  {%- elif type == 'number' -%}
    {%- set size = 'abs(cast(' ~ text ~ ' as numeric))' -%}
    {#- Members of JSON, such as coordinates, are doubles of 17 digits, as DuckDB reads them. -#}
    {%- set same = 'true' if is_member else 'cast(' ~ text ~ ' as numeric) = cast(cast(' ~ cast ~ ' as text) as numeric)' -%}
    {%- set fits = 'case when ' ~ size ~ ' = 0 or ' ~ size ~ ' between 5e-324 and 1.7976931348623157e308 then ' ~ same ~ ' end' -%}
  {%- elif type in ['date', 'timestamp'] -%}
    {#- The date exists in its month. -#}
    {%- set fits = "extract(day from cast(substr(" ~ text ~ ", 1, 7) || '-01' as date) + interval '1 month - 1 day') >= cast(substr("
      ~ text ~ ", 9, 2) as integer)" -%}
  {%- else -%}
    {%- set fits = 'true' -%}
  {%- endif -%}
  {%- if type == 'timestamp' -%}{%- set cast = protime.of_zone(text, cast, 'cast') -%}{%- endif -%}
  {{ return("case when " ~ protime.matches(text, protime.form_of(type)) ~ " then case when " ~ fits ~ " then " ~ cast ~ " end end") }}
{% endmacro %}

{% macro form_of(type) %}
  {%- set year = '([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])' -%}
  {%- set day = year ~ '-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])' -%}
  {{ return({
    'integer': '^(0|-?[1-9][0-9]{0,18})$',
    'number': '^-?(0|[1-9][0-9]{0,199})([.][0-9]{1,200})?([eE][+-]?[0-9]{1,3})?$',
    'boolean': '^(true|false)$',
    'date': '^' ~ day ~ '([T ]00:00(:00([.]0+)?)?Z?)?$',
    'timestamp': '^' ~ day ~ '[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?(Z|[+-][01][0-9]:[0-5][0-9])?)?$',
  }[type]) }}
{% endmacro %}

{#- The double that is nearest to a text, as the inventory sums it; null if it is not a number. -#}
{% macro nearest_number(text) %}
  {#- The limits keep the cast from failing: there are no greater exponents. -#}
  {{ return("case when " ~ protime.matches(text, '^-?[0-9]{1,200}([.][0-9]{1,200})?([eE][+-]?[0-9]{1,2})?$') ~ " then cast(" ~ text
    ~ " as " ~ protime.type_number() ~ ") end") }}
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
{% macro utc(time, dtype) %}{{ return('(' ~ time ~ " at time zone 'UTC')" if protime.has_zone(dtype) else time) }}{% endmacro %}
{% macro has_zone(dtype) %}{{ return('with time zone' in dtype | lower or dtype | lower == 'timestamptz') }}{% endmacro %}

{#- The days from `first` to `last`, both included, as the column `date_day`. -#}
{% macro days(first, last) %}{{ return(adapter.dispatch('days', 'protime')(first, last)) }}{% endmacro %}
{% macro duckdb__days(first, last) %}{{ return('select cast(day as date) as date_day from (select unnest(generate_series(' ~ first ~ ', ' ~ last ~ ', interval 1 day)) as day) days') }}{% endmacro %}
{#- Of dates, PostgreSQL makes a series in the time zone of the session, where a day may begin at one o'clock. -#}
{% macro postgres__days(first, last) %}{{ return("select cast(day as date) as date_day from generate_series(cast(" ~ first ~ " as timestamp), cast(" ~ last ~ " as timestamp), interval '1 day') day") }}{% endmacro %}

{#- The schema that `protime sync` has beside the one of its streams, for their history or for its account; none where it writes to none of this name. -#}
{% macro schema_beside(schema, part) %}{{ return(adapter.dispatch('schema_beside', 'protime')(schema, part)) }}{% endmacro %}
{% macro duckdb__schema_beside(schema, part) %}{{ return({'history': 'history', 'account': '_protime'}[part] if schema == 'main' else none) }}{% endmacro %}
{% macro postgres__schema_beside(schema, part) %}{{ return(schema ~ {'history': '_history', 'account': '_meta'}[part]) }}{% endmacro %}

{#- The time in UTC of a number of microseconds since 1970. -#}
{% macro moment_of(microseconds) %}{{ return(adapter.dispatch('moment_of', 'protime')(microseconds)) }}{% endmacro %}
{% macro duckdb__moment_of(microseconds) %}{{ return('make_timestamp(' ~ microseconds ~ ')') }}{% endmacro %}
{% macro postgres__moment_of(microseconds) %}{{ return("(timestamp '1970-01-01' + " ~ microseconds ~ " * interval '1 microsecond')") }}{% endmacro %}
