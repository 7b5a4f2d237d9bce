{#-
  The minutes of which protime__corrections tells: by stream, those of a record, [column, paths], the kind of absence or counter that
  they belong to, and a column that decides whether the record counts. The columns have the names that the other marts give them.
-#}
{% macro corrected() %}
{{ return({
  'calculated_totals': {'minutes': [
    ['due_minutes', 'normalTimeDurationInMinutes'],
    ['present_minutes', 'timePresentDurationInMinutes'],
    ['calculated_presence_minutes', 'calculatedPresenceDurationInMinutes'],
    ['flextime_minutes', 'flextimeDurationInMinutes']]},
  'paid_presences': {'minutes': [['paid_minutes', 'durationInMinutes']]},
  'breaks': {
    'minutes': [['break_minutes', 'calculatedDurationInMinutes']],
    'only': [['is_break_taken', 'boolean', 'isBreakTaken'], 'is_break_taken']},
  'absences': {
    'minutes': [['absent_minutes', 'calculatedDurationInMinutes|durationInMinutes']],
    'definition': 'resultingAbsenceDefinition.id|requestedAbsenceDefinition.id',
    'only': [['approval_level', 'text', 'approvalLevel'], protime.decision('approval_level') ~ " = 'granted'"]},
  'counters': {'minutes': [['counter_minutes', 'durationInMinutes']], 'definition': 'counterDefinition.id'},
}) }}
{% endmacro %}

{#- What an approval level decides about an absence. -#}
{% macro decision(level) %}
  {{- return("case when " ~ level ~ " like 'NotApproved%' then 'refused' when " ~ level ~ " = 'AwaitingApproval' then 'awaiting' else 'granted' end") -}}
{% endmacro %}

{#- The columns that corrections need of a stream, as `stage` takes them. The views of the history have nested values as columns. -#}
{% macro corrected_columns(stream, is_flat) %}
  {%- set told = protime.corrected()[stream] -%}
  {%- set columns = [['id', 'integer', 'id'], ['person_id', 'integer', 'person.id'], ['date_day', 'date', 'date']] -%}
  {%- if told.definition %}{% do columns.append(['definition_id', 'integer', told.definition]) %}{% endif -%}
  {%- if told.only %}{% do columns.append(told.only[0]) %}{% endif -%}
  {%- for name, paths in told.minutes %}{% do columns.append([name, 'integer', paths]) %}{% endfor -%}
  {%- set flat = [] -%}
  {%- for name, type, paths in columns %}{% do flat.append([name, type, paths | replace('.', '_')]) %}{% endfor -%}
  {{ return(flat if is_flat else columns) }}
{% endmacro %}

{#- A table or view that `protime sync` has beside its streams, in the schema of the history or of the account; none if there is none. -#}
{% macro table_beside(tenant, part, name) %}
  {%- set schema = protime.schema_beside(tenant.schema or var('protime_schema', 'protime'), part) -%}
  {%- if schema is none or not execute -%}{{ return(none) }}{%- endif -%}
  {{ return(protime.table_at(tenant.database or var('protime_database', target.database), schema, name)) }}
{% endmacro %}

{#-
  The closes of a tenant as a query: those of `protime close` in a warehouse with history, otherwise what the variable protime_closes
  lists; none if there are none. A role of the database that may not read the account can do without while there is no history.
-#}
{% macro closes_of(tenant) %}
  {%- set histories = [] -%}
  {%- for stream in protime.corrected() if protime.table_beside(tenant, 'history', stream) is not none %}{% do histories.append(stream) %}{% endfor -%}
  {%- set relation = protime.table_beside(tenant, 'account', 'closes') if histories else none -%}
  {%- set listed = var('protime_closes', none) or [] -%}
  {%- if listed is string %}{% set seed = ref(listed) %}{% endif -%}
  {%- if relation is none and listed is string %}{% set relation = seed %}{% endif -%}
  {%- if relation is not none and execute -%}
    {%- set present = adapter.get_columns_in_relation(relation) -%}
    {%- set moment = protime.column_named(['closed_at'], present) -%}
    {%- if present and not (moment and (protime.is_text(moment.dtype) or protime.has_zone(moment.dtype))) -%}
      {#- A seed is loaded in the time zone of the session: nobody knows which. -#}
      {{ exceptions.raise_compiler_error('closed_at of ' ~ relation ~ ' is not a text. If it is a seed, set +column_types: {closed_at: text}, because dbt would convert its times.') }}
    {%- endif -%}
    {%- set fields = [] -%}
    {%- for name, type in [['period', 'text'], ['first_day', 'date'], ['last_day', 'date'], ['closed_at', 'timestamp']] -%}
      {%- do fields.append(protime.staged([name], type, present) ~ ' as ' ~ name) -%}
    {%- endfor -%}
    {{ return('select ' ~ fields | join(', ') ~ ' from ' ~ relation) }}
  {%- endif -%}
  {%- set selects = [] -%}
  {%- for close in listed if listed is not string -%}
    {%- do selects.append('select ' ~ protime.text_of(close.period | string) ~ " as period, cast('" ~ close.first_day ~ "' as date) as first_day, cast('"
      ~ close.last_day ~ "' as date) as last_day, " ~ protime.parsed(protime.text_of(close.closed_at | string), 'timestamp') ~ ' as closed_at') -%}
  {%- endfor -%}
  {{ return(selects | join(' union all ') or none) }}
{% endmacro %}

{#-
  Since when it is known what the rows of a stream were, as a query without rows if it is not: `protime sync` notes it where it keeps
  history; where a loader appends, it is the time of the first record. A loader that replaces rows has one record of each.
-#}
{% macro known_since(tenant, stream) %}
  {%- set history = protime.table_beside(tenant, 'history', stream) -%}
  {%- set present = adapter.get_columns_in_relation(history or protime.table_of(tenant, stream)) -%}
  {%- set sent = protime.sent_in(present) -%}
  {%- set missing = [] if history or sent else ['cursor'] -%}
  {%- set minutes = protime.corrected()[stream].minutes | map('first') | list -%}
  {%- for name, type, paths in protime.corrected_columns(stream, history is not none) -%}
    {%- if name not in minutes and not protime.values_at(paths.split('|'), type, present) %}{% do missing.append(name) %}{% endif -%}
  {%- endfor -%}
  {%- if missing -%}{{ return('select cast(null as ' ~ dbt.type_timestamp() ~ ') as known_since where 1 = 0') }}{%- endif -%}
  {%- if history -%}
    {%- set account = protime.table_beside(tenant, 'account', 'streams') -%}
    {%- set since = protime.staged(['known_since'], 'timestamp', adapter.get_columns_in_relation(account)) -%}
    {{ return('select ' ~ since ~ ' as known_since from ' ~ account ~ " where stream = '" ~ stream ~ "'") }}
  {%- endif -%}
  {{ return('select min(' ~ protime.moment_sent(sent, present) ~ ') as known_since from ' ~ protime.table_of(tenant, stream)
    ~ ' having count(*) > count(distinct ' ~ protime.staged(['id'], 'integer', present) ~ ')') }}
{% endmacro %}

{#- When a record was sent: its cursor counts microseconds. Records without one are from before there was a cursor. -#}
{% macro moment_sent(sent, present) %}
  {{- return("coalesce(" ~ protime.moment_of(protime.staged([sent.name], 'integer', present)) ~ ", cast('1900-01-01' as " ~ dbt.type_timestamp() ~ "))") -}}
{% endmacro %}

{#-
  What the rows of a stream were and are: the columns of corrections, `known_from`, and `known_until`, which is null for what is true
  now. They come from the history of `protime sync`, otherwise from the records that a loader has appended: one is a version if it or
  its deletion differs from the one before, and holds until the next version.
-#}
{% macro versions(tenant, stream) %}
{%- set history = protime.table_beside(tenant, 'history', stream) -%}
{%- set relation = history or protime.table_of(tenant, stream) -%}
{%- set present = protime.columns_of(relation) -%}
{%- set columns = protime.corrected_columns(stream, history is not none) -%}
{%- set sent, loaded, deleted = protime.sent_in(present), protime.loaded_in(present), protime.deleted_in(present) -%}
{%- if protime.closes_of(tenant) is none or not (history or sent) -%}
  select {{ protime.text_of(tenant.name) }} as tenant, {{ protime.staged_fields(['id'], columns, []) }},
    cast(null as {{ dbt.type_timestamp() }}) as known_from, cast(null as {{ dbt.type_timestamp() }}) as known_until where 1 = 0
{%- elif history -%}
  {%- do columns.extend([['known_from', 'timestamp', 'known_from'], ['known_until', 'timestamp', 'known_until']]) -%}
  select {{ protime.text_of(tenant.name) }} as tenant, {{ protime.staged_fields(['id'], columns, present) }} from {{ history }}
{%- else -%}
  select * from (
    select changes.*, lead(known_from) over (partition by id order by _position) as known_until from (
      select records.*,
        lag(_content_hash) over (partition by id order by _position) as _hash_before,
        lag(_is_gone) over (partition by id order by _position) as _was_gone
      from (
        select {{ protime.text_of(tenant.name) }} as tenant, {{ protime.staged_fields(['id'], columns, present) }},
          {{ protime.moment_sent(sent, present) }} as known_from,
          {{ adapter.quote(deleted.name) ~ ' is not null' if deleted else 'false' }} as _is_gone,
          row_number() over (partition by {{ protime.staged(['id'], 'integer', present) }}
            order by {% for column in [sent, loaded] if column %}{{ adapter.quote(column.name) }} nulls first{{ ', ' if not loop.last }}{% endfor %}) as _position
        from {{ relation }}
      ) records
    ) changes
    where _was_gone is null or _is_gone <> _was_gone or (not _is_gone and _content_hash <> _hash_before)
  ) versions where not _is_gone
{%- endif -%}
{% endmacro %}
