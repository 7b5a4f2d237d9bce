{#-
  The rows of one stream for all tenants: flat, typed, without deleted rows. Differences between loaders are handled here, by
  looking at the columns of a table. A missing table is empty, and a missing column is null. `columns` are [name, type, paths]:
  if there are several paths, separated by |, the first one with a value is used.
-#}
{% macro stage(stream, key, columns) %}
{#- A view of ended versions would keep `protime history off --forget` from dropping them in PostgreSQL. -#}
{%- if var('protime_as_of', none) %}{{ config(materialized='table') }}{% endif -%}
{#- While dbt parses, it needs nothing but the source. -#}
{%- if not execute %}{{ return(source('protime', stream)) }}{% endif -%}
{%- set lists = {} -%}
{%- for tenant in protime.tenants() %}
{%- set relation = protime.known_table(tenant, stream) -%}
{%- set present = protime.columns_of(relation) -%}
{%- set form = protime.form_of_table(present) -%}
{%- if form not in lists %}{% do lists.update({form: protime.staged_fields(key, columns, present)}) %}{% endif -%}
{%- if not loop.first %}
union all
{% endif -%}
{{ protime.stage_tenant(tenant, relation, present, key, columns, lists[form]) }}
{%- endfor -%}
{% endmacro %}

{% macro columns_of(relation) %}{{ return(adapter.get_columns_in_relation(relation) if relation is not none else []) }}{% endmacro %}

{#- Equal for tables that have the same columns, as those that one loader makes of a stream: what is rendered for one is right for all. -#}
{% macro form_of_table(present) %}
  {%- set texts = [] -%}
  {%- for column in present %}{% do texts.append(column.name ~ ' ' ~ column.dtype) %}{% endfor -%}
  {{ return(texts | join('\n')) }}
{% endmacro %}

{% macro tenants() %}{{ return(var('protime_tenants', none) or [{'name': var('protime_tenant', 'tenant')}]) }}{% endmacro %}

{#- The table of a stream, or none if it was not loaded. -#}
{% macro table_of(tenant, stream) %}
  {%- set wanted = api.Relation.create(database=tenant.database or var('protime_database', target.database),
    schema=tenant.schema or var('protime_schema', 'protime'), identifier=stream) if var('protime_tenants', none) else source('protime', stream) -%}
  {%- if not execute -%}{{ return(none) }}{%- endif -%}
  {{ return(protime.table_at(wanted.database, wanted.schema, wanted.identifier)) }}
{% endmacro %}

{#-
  A table or view by its name, or none if there is none. While dbt fills its cache of a schema for one thread, it answers others that
  tables are missing that are there: so what the cache lacks is looked for once more.
-#}
{% macro table_at(database, schema, name) %}
  {%- set cached = adapter.get_relation(database, schema, name) -%}
  {%- if cached is not none -%}{{ return(cached) }}{%- endif -%}
  {%- set wanted = api.Relation.create(database=database, schema=schema, identifier=name) -%}
  {%- set present = dbt.list_relations_without_caching(wanted.without_identifier()) -%}
  {{ return(wanted if name in present.columns['name'].values() else none) }}
{% endmacro %}

{#-
  The same, or none if nobody knows what its rows were at protime_as_of: `protime sync` notes since when it keeps them. The inventory,
  of which it keeps no history, is always that of the last sync.
-#}
{% macro known_table(tenant, stream) %}
  {%- set relation = protime.table_of(tenant, stream) -%}
  {%- if var('protime_as_of', none) is none or stream == 'inventory' or relation is none -%}{{ return(relation) }}{%- endif -%}
  {%- if protime.table_beside(tenant, 'account', 'closed_' ~ stream) is none -%}{{ return(none) }}{%- endif -%}
  {%- set account = protime.table_beside(tenant, 'account', 'streams') -%}
  {%- set since = protime.staged(['known_since'], 'timestamp', adapter.get_columns_in_relation(account)) -%}
  {%- set known = run_query('select stream from ' ~ account ~ " where stream = '" ~ stream ~ "' and " ~ since ~ ' <= ' ~ protime.as_of()) -%}
  {{ return(relation if known.rows else none) }}
{% endmacro %}

{#- The rows of a table, or those that it had at protime_as_of: versions that have ended since have the same columns elsewhere. -#}
{% macro rows_of(tenant, relation, present) %}
  {%- set closed = protime.table_beside(tenant, 'account', 'closed_' ~ relation.identifier) if var('protime_as_of', none) else none -%}
  {%- if closed is none -%}{{ return(relation) }}{%- endif -%}
  {%- set present_then = adapter.get_columns_in_relation(closed) -%}
  {#- A column that somebody has added to the table is not in the versions. -#}
  {%- set names, names_then = [], [] -%}
  {%- for column in present %}
    {%- do names.append(adapter.quote(column.name)) %}
    {%- do names_then.append(names[-1] if column.name in present_then | map(attribute='name') else 'null') %}
  {%- endfor -%}
  {%- set begun = protime.staged(['_known_from'], 'timestamp', present) ~ ' <= ' ~ protime.as_of() -%}
  {%- set ended = protime.staged(['_known_until'], 'timestamp', present_then) ~ ' <= ' ~ protime.as_of() -%}
  {{ return('(select ' ~ names | join(', ') ~ ' from ' ~ relation ~ ' where ' ~ begun ~ ' union all select ' ~ names_then | join(', ') ~ ' from ' ~ closed
    ~ ' where ' ~ begun ~ ' and not ' ~ ended ~ ') held') }}
{% endmacro %}

{#- The moment protime_as_of in UTC, or one after every other. -#}
{% macro as_of() %}
  {%- set given = (var('protime_as_of', none) or '9999-12-31T00:00:00Z') | string -%}
  {%- if not modules.re.match(protime.form_of('timestamp'), given) -%}
    {{ exceptions.raise_compiler_error('protime_as_of is not a time: ' ~ given ~ '. Set one in UTC, such as 2026-11-02T12:00:00Z.') }}
  {%- endif -%}
  {{ return(protime.parsed(protime.text_of(given), 'timestamp')) }}
{% endmacro %}

{#- The fields of the inputs of the marts that a table with these columns lacks. -#}
{% macro missing_fields(present, stream) %}
  {%- set missing = [] -%}
  {%- for inputs in protime.inputs().values() -%}
    {%- for _, needs in inputs -%}
      {%- for field in needs[stream] or [] if protime.column_named([field], present) is none and field not in missing -%}
        {%- do missing.append(field) -%}
      {%- endfor -%}
    {%- endfor -%}
  {%- endfor -%}
  {{ return(missing) }}
{% endmacro %}

{% macro text_of(text) %}{{ return("cast('" ~ text | replace("'", "''") ~ "' as " ~ dbt.type_string() ~ ')') }}{% endmacro %}

{% macro stage_tenant(tenant, relation, present, key, columns, fields) %}
{%- set fields = protime.text_of(tenant.name) ~ ' as tenant,' ~ fields -%}
{%- set deleted = protime.deleted_in(present) -%}
{%- set sent = protime.sent_in(present) -%}
{%- set loaded = protime.loaded_in(present) -%}
{%- if relation is none -%}
select {{ fields }} where 1 = 0
{%- elif sent or loaded -%}
{#- A loader may keep several records of a row. The one that was sent last counts, and the row is deleted if that is a delete. -#}
select {{ protime.names_of(columns) }} from (
  select {{ fields }},
    row_number() over (
      partition by {% for path in key %}{{ protime.staged([path], 'text', present) }}{{ ', ' if not loop.last }}{% endfor %}
      order by {% for column in [sent, loaded] if column %}{{ adapter.quote(column.name) }} desc nulls last{{ ', ' if not loop.last }}{% endfor %}
    ) as _newest,
    {{ adapter.quote(deleted.name) if deleted else 'null' }} as _gone_at
  from {{ relation }}
) versions where _newest = 1 and _gone_at is null
{%- else -%}
select {{ fields }}
from {{ protime.rows_of(tenant, relation, present) }}{{ ' where ' ~ adapter.quote(deleted.name) ~ ' is null' if deleted }}
{%- endif -%}
{% endmacro %}

{#- The columns of a loader: when a row was deleted, the order of records, and when the record was loaded. -#}
{% macro deleted_in(present) %}{{ return(protime.column_named(['_ab_cdc_deleted_at', '_sdc_deleted_at', '_deleted_at'], present)) }}{% endmacro %}
{% macro sent_in(present) %}{{ return(protime.column_named(['_ab_cdc_cursor'], present)) }}{% endmacro %}
{% macro loaded_in(present) %}{{ return(protime.column_named(['_airbyte_extracted_at', '_sdc_extracted_at'], present)) }}{% endmacro %}

{#- The select list of the rows of a table: its columns, and those that every staging model has but the tenant. -#}
{% macro staged_fields(key, columns, present) %}
{%- set loaded = protime.loaded_in(present) -%}
{%- set unfit = [] -%}
{%- set texts = [] -%}
{%- for path in key %}{% do texts.append(protime.staged([path], 'text', present)) %}{% endfor -%}
{%- do texts.append("coalesce(" ~ protime.staged(['changeVersion'], 'text', present) ~ ", '')") if 'change_version' in columns | map('first') %}
    {%- for name, type, paths in columns %}
    {%- set found = protime.values_at(paths.split('|'), type, present) %}
    {{ protime.first_of(found | map(attribute='sql') | list, type) }} as {{ name }},
    {%- do unfit.extend(found | selectattr('is_parsed') | list) %}
    {%- if type not in ['json', 'timestamp'] and paths not in key and paths != 'changeVersion' %}
      {%- do texts.append('coalesce(' ~ protime.first_of(found | map(attribute='text') | list, 'text') ~ ', chr(30))') %}
    {%- endif %}
    {%- endfor %}
    {{ protime.number_of_unfit(unfit) }} as _unfit_values,
    {{ protime.number_of_unfit(unfit | selectattr('type', 'eq', 'date') | list) }} as _unfit_days,
    {{ dbt.hash(texts | join(' || chr(31) || ')) }} as _content_hash,
    cast({{ protime.utc(adapter.quote(loaded.name), loaded.dtype) if loaded else 'null' }} as {{ dbt.type_timestamp() }}) as _loaded_at
{%- endmacro %}

{#- How many of these values were loaded, but do not fit their columns. -#}
{% macro number_of_unfit(values) %}
  {%- set cases = [] -%}
  {%- for value in values %}{% do cases.append('case when ' ~ value.raw ~ ' is not null and ' ~ value.sql ~ ' is null then 1 else 0 end') %}{% endfor -%}
  {{ return(cases | join('\n      + ') or '0') }}
{% endmacro %}

{% macro names_of(columns) %}
  {{- return((['tenant'] + columns | map('first') | list + ['_unfit_values', '_unfit_days', '_content_hash', '_loaded_at']) | join(', ')) -}}
{% endmacro %}

{#- The first of these columns that the table has, by its exact name, otherwise in any case. -#}
{% macro column_named(names, present) %}
  {%- for name in names -%}
    {%- for column in present if column.name == name -%}{{ return(column) }}{%- endfor -%}
  {%- endfor -%}
  {%- for name in names -%}
    {%- for column in present if column.name | lower == name | lower -%}{{ return(column) }}{%- endfor -%}
  {%- endfor -%}
  {{ return(none) }}
{% endmacro %}

{% macro staged(paths, type, present) %}
  {{- return(protime.first_of(protime.values_at(paths, type, present) | map(attribute='sql') | list, type)) -}}
{% endmacro %}

{% macro first_of(values, type) %}
  {%- if values | length == 0 -%}{{ return('cast(null as ' ~ protime.type_of(type) ~ ')') }}{%- endif -%}
  {{ return(values[0] if values | length == 1 else 'coalesce(' ~ values | join(', ') ~ ')') }}
{% endmacro %}

{#-
  The value at these paths: `raw` as it was loaded, `sql` in its type, whether that is parsed from a text and may fail, and
  `text` as the inventory sums it. If the paths are two spellings of a field that differ only in case, `protime sync` has the
  second one in `name_1`. It stores values that do not fit a typed column in `name_json`.
-#}
{% macro values_at(paths, type, present) %}
  {%- set found = [] -%}
  {%- set taken = [] -%}
  {%- for path in paths -%}
    {%- set steps = path.split('.') -%}
    {%- for name in [steps[0], steps[0] ~ '_json'] + ([steps[0] ~ '_1'] if paths | length > 1 else []) -%}
      {%- set column = protime.column_named([name], present) -%}
      {%- if column is not none and [column.name] + steps[1:] not in taken -%}
        {%- do taken.append([column.name] + steps[1:]) -%}
        {%- set raw = protime.value_at(adapter.quote(column.name), column.dtype, steps[1:], type) -%}
        {%- if type == 'timestamp' -%}{%- set raw = protime.utc(raw, column.dtype) -%}{%- endif -%}
        {%- set is_parsed = type not in ['text', 'json'] and protime.is_text(column.dtype) -%}
        {%- set sql = protime.parsed(raw, type, steps | length > 1) if is_parsed else 'cast(' ~ raw ~ ' as ' ~ protime.type_of(type) ~ ')' -%}
        {%- if type == 'integer' and not is_parsed and 'int' not in column.dtype | lower -%}
          {#- A cast would round fractions. -#}
          {%- set is_parsed, sql = true, 'case when ' ~ raw ~ ' = floor(' ~ raw ~ ') then ' ~ sql ~ ' end' -%}
        {%- endif -%}
        {%- do found.append({'raw': raw, 'sql': sql, 'type': type, 'is_parsed': is_parsed, 'text': protime.summed_text(raw, type, column.dtype)}) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endfor -%}
  {{ return(found) }}
{% endmacro %}

{% macro type_of(type) %}
  {{ return({
    'integer': dbt.type_bigint(), 'number': protime.type_number(), 'boolean': dbt.type_boolean(),
    'date': 'date', 'timestamp': dbt.type_timestamp(), 'text': dbt.type_string(), 'json': protime.type_json(),
  }[type]) }}
{% endmacro %}

{#- A name in the language protime_language if it has a translation, otherwise in the default language. -#}
{% macro name_of(alias, column='name') %}
  {%- set language = var('protime_language', none) -%}
  {{- return('coalesce(' ~ protime.member(alias ~ '.' ~ column ~ '_translations', language) ~ ', ' ~ alias ~ '.' ~ column ~ '_default)'
    if language else alias ~ '.' ~ column ~ '_default') -}}
{% endmacro %}

{#- Today in the time zone protime_time_zone, otherwise in that of the session. -#}
{% macro today() %}
  {%- set zone = var('protime_time_zone', none) -%}
  {{- return('cast(' ~ protime.local_now(protime.text_of(zone) if zone else none) ~ ' as date)') -}}
{% endmacro %}

{#- The clocks' time in a time zone, which is an expression, or in that of the session; the end of the day if protime_now is one. -#}
{% macro local_now(zone=none) %}
  {%- set given = protime.given_now() -%}
  {%- if given | string | length == 10 -%}{{ return("cast('" ~ given ~ " 23:59:59' as " ~ dbt.type_timestamp() ~ ')') }}{%- endif -%}
  {%- set instant = 'current_timestamp' if given is none else '(' ~ protime.now() ~ " at time zone 'UTC')" -%}
  {{- return('(' ~ instant ~ ' at time zone ' ~ zone ~ ')' if zone else 'cast(' ~ instant ~ ' as ' ~ dbt.type_timestamp() ~ ')') -}}
{% endmacro %}

{% macro given_now() %}{{ return(var('protime_now', none) or var('protime_as_of', none)) }}{% endmacro %}

{#- The current time in UTC, or protime_now: a time, or the beginning of a day; or protime_as_of. -#}
{% macro now() %}
  {%- set given = protime.given_now() -%}
  {%- if given is none -%}{{ return(protime.now_utc()) }}{%- endif -%}
  {{- return("cast('" ~ given ~ "' as " ~ dbt.type_timestamp() ~ ')' if given | string | length == 10 else protime.parsed(protime.text_of(given | string), 'timestamp')) -}}
{% endmacro %}

{#- The time zone of a work location, as an expression: the service does not know it, so variables do. Null if they do not. -#}
{% macro time_zone_of(location) %}
  {%- set zone = var('protime_time_zone', none) -%}
  {%- set usual = protime.text_of(zone) if zone else 'cast(null as ' ~ dbt.type_string() ~ ')' -%}
  {%- set cases = [] -%}
  {%- for id, other in (var('protime_time_zones', none) or {}).items() %}{% do cases.append('when ' ~ id ~ ' then ' ~ protime.text_of(other)) %}{% endfor -%}
  {{- return('case ' ~ location ~ ' ' ~ cases | join(' ') ~ ' else ' ~ usual ~ ' end' if cases else usual) -}}
{% endmacro %}

{#- The clocks' time at a minute of a day: below 0 it is on the day before, above 1439 on the day after. Null if no warehouse could add as many. -#}
{% macro at_minute(day, minute) %}
  {%- set most = 2147483647 -%}
  {%- set added = 'case when ' ~ minute ~ ' between -' ~ most ~ ' and ' ~ most ~ ' then ' ~ minute ~ ' end' -%}
  {{ return('cast(' ~ dbt.dateadd('minute', added, day) ~ ' as ' ~ dbt.type_timestamp() ~ ')') }}
{% endmacro %}

{#-
  The absolute time of a time of the clocks in a time zone. Of an hour that the clocks repeat, it is the second one, in winter time. In
  an hour that they leave out, it is as long after the change as the clocks would have shown: 02:30 is 03:30 in summer time.
-#}
{% macro absolute(local, zone) %}{{ return('(' ~ local ~ ' at time zone ' ~ zone ~ ')') }}{% endmacro %}

{#- The first day of a period without a beginning, and the last day of one without an end. -#}
{% macro always() %}{{ return("cast('1900-01-01' as date)") }}{% endmacro %}
{% macro forever() %}{{ return("cast('9999-12-31' as date)") }}{% endmacro %}
