-- What the macros of the audit make of the connector's own vectors: values as text, as a member of JSON and in their own
-- type, as loaders store them, and sums of keys and of digests. A row per difference.
{%- set vectors = checksum_vectors() %}
{%- set types = {'integer': dbt.type_bigint(), 'number': protime.type_number(), 'boolean': dbt.type_boolean(), 'text': dbt.type_string(), 'date': 'date'} %}
{%- set cases = [] %}
{%- for vector in vectors['values'] if vector.value is not none %}
  {%- set text = vector.value if vector.value is string else tojson(vector.value) %}
  {%- set json = "cast(" ~ literal(tojson({'of': vector.value})) ~ " as " ~ protime.type_json() ~ ")" %}
  {%- do cases.append([protime.summed_text(literal(text), vector.type, 'text'), vector]) %}
  {%- do cases.append([protime.summed_text(protime.value_at(json, protime.type_json(), ['of'], vector.type), vector.type, protime.type_json()), vector]) %}
  {%- if vector.value is not string or (vector.type == 'date' and vector.text != '2026-02-30') %}
    {%- do cases.append([protime.summed_text("cast(" ~ literal(text[:10] if vector.type == 'date' else text) ~ " as " ~ types[vector.type] ~ ")", vector.type, types[vector.type]), vector]) %}
  {%- endif %}
{%- endfor %}
select * from (
{%- for actual, vector in cases %}
  select {{ literal(vector.type ~ ' ' ~ tojson(vector.value)) }} as vector, coalesce({{ actual }}, chr(30)) as actual, {{ literal(vector.text) }} as expected union all
{%- endfor %}
{%- for vector in vectors['integers'] if vector['keys'] %}
  select 'integers', {{ protime.sums_of_keys([['id', 'integer']]) }}, '{{ vector.sum }}'
  from ({% for id in vector['keys'] %}select cast({{ id }} as {{ dbt.type_bigint() }}) as id{{ ' union all ' if not loop.last }}{% endfor %}) ids union all
{%- endfor %}
{%- for vector in vectors['texts'] if vector.texts %}
  select 'texts', {{ protime.sums_of_keys([['word', 'text']]) }}, '{{ vector.sum }}'
  from ({% for text in vector.texts %}select {{ literal(text) }} as word{{ ' union all ' if not loop.last }}{% endfor %}) words
  {{- ' union all' if not loop.last }}
{%- endfor %}
) compared where actual <> expected or actual is null
