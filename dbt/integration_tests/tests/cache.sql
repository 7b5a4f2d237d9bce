-- A table that the cache of dbt lacks is found nevertheless. No row if it is.
-- depends_on: {{ ref('protime__people') }}
{%- set found = true %}
{%- if execute %}
{%- set table = protime.table_of(protime.tenants()[0], 'people') %}
{%- do adapter.cache_dropped(table) %}
{%- set again = protime.table_at(table.database, table.schema, 'people') %}
{%- set found = again is not none and protime.table_at(table.database, table.schema, 'nothing') is none %}
{%- do adapter.cache_added(table) %}
{%- endif %}
select 'not found' as people {{ 'limit 0' if found }}
