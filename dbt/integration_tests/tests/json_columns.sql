-- What the package makes of columns that have a value as JSON, such as those for values that do not fit: the value, or null. A row per difference.
{#- The last value is that of a member of the same name; where it is missing, it is the same. -#}
{%- set cases = [
    ['integer', '480', '480'],
    ['integer', '3.5', none],
    ['integer', '1e2', none],
    ['integer', '99999999999999999999', none],
    ['integer', 'null', none],
    ['number', '21.35', '21.35'],
    ['number', '33.333333333333333333', none, '33.333333333333333333'],
    ['number', '1e400', none],
    ['text', '"Zo\u00e9 \\"O\'Hara\\""', 'Zo\u00e9 "O\'Hara"'],
    ['text', '42', '42'],
] %}
{%- for case in cases %}
{%- set wanted = [case[2], case[3] if case | length > 3 else case[2]] %}
{%- for steps in [[], ['of']] %}
{%- set json = "cast('" ~ dbt.escape_single_quotes('{"of":' ~ case[1] ~ '}' if steps else case[1]) ~ "' as json)" %}
{%- set raw = protime.value_at('held', 'json', steps, case[0]) %}
{%- set made = raw if case[0] == 'text' else protime.parsed(raw, case[0], steps != []) %}
{%- set value = "'" ~ dbt.escape_single_quotes(wanted[steps | length]) ~ "'" if wanted[steps | length] is not none else 'null' %}
select '{{ case[0] }}' as type, cast(held as {{ dbt.type_string() }}) as held, cast({{ made }} as {{ dbt.type_string() }}) as made
from (select {{ json }} as held) columns where {{ made }} is distinct from cast({{ value }} as {{ protime.type_of(case[0]) }})
union all
{%- endfor %}
{%- endfor %}
-- A NUL, which no text of PostgreSQL has, hides nothing else.
select 'text', 'a NUL', null from (select cast('"O\u0000K"' as json) as held) columns
where {{ protime.value_at('held', 'json', [], 'text') }} not like 'O%K'
union all
select 'text', 'a NUL beside a member', null from (select cast('{"of":"K","other":"\u0000"}' as json) as held) columns
where {{ protime.value_at('held', 'json', ['of'], 'text') }} <> 'K' or {{ protime.value_at('held', 'json', [], 'json') }} is null
