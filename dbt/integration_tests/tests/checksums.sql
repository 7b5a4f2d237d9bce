-- What the macros of the audit make of the connector's own vectors: values as text, as a member of JSON and in their own
-- type, as loaders store them, and sums of keys and of digests. A row per difference.
{#- The vectors are those of src/rows/checksum-vectors.json: `npm run docs` writes them here. #}
{%- set file %}{% raw %}{
  "integers": [
    {
      "keys": [],
      "sum": "0:0"
    },
    {
      "keys": [1, 2, 3],
      "sum": "6:14"
    },
    {
      "keys": [1000003, 1000004],
      "sum": "2000007:1"
    },
    {
      "keys": [9007199254740991, 9007199254740990],
      "sum": "18014398509481981:100613353945"
    },
    {
      "keys": [4294967296, 7, 123456789012],
      "sum": "127751756315:1086168882181"
    }
  ],
  "texts": [
    {
      "texts": [],
      "sum": "0:0"
    },
    {
      "texts": ["a", "b"],
      "sum": "2678904247:7107241620"
    },
    {
      "texts": ["b", "a"],
      "sum": "2678904247:7107241620"
    },
    {
      "texts": ["people\u001f@badge-number\u001f0042", "Zo\u00e9 \"O'Hara\"\n", "\u001e"],
      "sum": "5803642868:6832814681"
    }
  ],
  "values": [
    {
      "type": "integer",
      "value": 480,
      "text": "480"
    },
    {
      "type": "integer",
      "value": -1440,
      "text": "-1440"
    },
    {
      "type": "integer",
      "value": null,
      "text": "\u001e"
    },
    {
      "type": "number",
      "value": 37.5,
      "text": "37500000"
    },
    {
      "type": "number",
      "value": -1.5e-6,
      "text": "-1"
    },
    {
      "type": "number",
      "value": 5e-7,
      "text": "1"
    },
    {
      "type": "number",
      "value": "4.351721000",
      "text": "4351721"
    },
    {
      "type": "number",
      "value": 50.850339112,
      "text": "50850339"
    },
    {
      "type": "number",
      "value": "1.5e2",
      "text": "150000000"
    },
    {
      "type": "number",
      "value": -9007199254,
      "text": "-9007199254000000"
    },
    {
      "type": "number",
      "value": 9007199255,
      "text": "\u001e"
    },
    {
      "type": "number",
      "value": "",
      "text": "\u001e"
    },
    {
      "type": "number",
      "value": " 5",
      "text": "\u001e"
    },
    {
      "type": "number",
      "value": "1_000",
      "text": "\u001e"
    },
    {
      "type": "number",
      "value": "1e400",
      "text": "\u001e"
    },
    {
      "type": "number",
      "value": "n/a",
      "text": "\u001e"
    },
    {
      "type": "boolean",
      "value": true,
      "text": "true"
    },
    {
      "type": "boolean",
      "value": false,
      "text": "false"
    },
    {
      "type": "date",
      "value": "2026-09-01",
      "text": "2026-09-01"
    },
    {
      "type": "date",
      "value": "2026-09-01T00:00:00",
      "text": "2026-09-01"
    },
    {
      "type": "date",
      "value": "2026-02-30",
      "text": "2026-02-30"
    },
    {
      "type": "text",
      "value": "Zo\u00e9 O'Hara",
      "text": "Zo\u00e9 O'Hara"
    },
    {
      "type": "text",
      "value": "",
      "text": ""
    }
  ]
}{% endraw %}{% endset %}
{%- set vectors = fromjson(file) %}
{%- set types = {'integer': dbt.type_bigint(), 'number': protime.type_number(), 'boolean': dbt.type_boolean(), 'text': dbt.type_string(), 'date': 'date'} %}
{%- set cases = [] %}
{%- for vector in vectors['values'] if vector.value is not none %}
  {%- set text = vector.value if vector.value is string else tojson(vector.value) %}
  {%- set quoted = dbt.cast(dbt.string_literal(dbt.escape_single_quotes(text)), dbt.type_string()) %}
  {%- set json = dbt.cast(dbt.string_literal(dbt.escape_single_quotes(tojson({'of': vector.value}))), protime.type_json()) %}
  {%- do cases.append([protime.summed_text(quoted, vector.type, 'text'), vector]) %}
  {%- do cases.append([protime.summed_text(protime.value_at(json, protime.type_json(), ['of'], vector.type), vector.type, protime.type_json()), vector]) %}
  {%- if vector.value is not string or (vector.type == 'date' and vector.text != '2026-02-30') %}
    {%- do cases.append([protime.summed_text(dbt.cast(dbt.string_literal(text[:10] if vector.type == 'date' else text), types[vector.type]), vector.type, types[vector.type]), vector]) %}
  {%- endif %}
{%- endfor %}
select * from (
{%- for actual, vector in cases %}
  select {{ dbt.string_literal(dbt.escape_single_quotes(vector.type ~ ' ' ~ tojson(vector.value))) }} as vector, coalesce({{ actual }}, chr(30)) as actual, {{ dbt.string_literal(dbt.escape_single_quotes(vector.text)) }} as expected union all
{%- endfor %}
{%- for vector in vectors['integers'] if vector['keys'] %}
  select 'integers', {{ protime.sums_of_keys([['id', 'integer']]) }}, '{{ vector.sum }}'
  from ({% for id in vector['keys'] %}select cast({{ id }} as {{ dbt.type_bigint() }}) as id{{ ' union all ' if not loop.last }}{% endfor %}) ids union all
{%- endfor %}
{%- for vector in vectors['texts'] if vector.texts %}
  select 'texts', {{ protime.sums_of_keys([['word', 'text']]) }}, '{{ vector.sum }}'
  from ({% for text in vector.texts %}select {{ dbt.cast(dbt.string_literal(dbt.escape_single_quotes(text)), dbt.type_string()) }} as word{{ ' union all ' if not loop.last }}{% endfor %}) words
  {{- ' union all' if not loop.last }}
{%- endfor %}
) compared where actual <> expected or actual is null
