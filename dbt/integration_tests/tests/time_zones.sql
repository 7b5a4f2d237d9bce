-- Times of the clocks whose absolute times are not as expected: minutes of other days, and the hours that clocks repeat and leave out.
{%- set cases = [
    ['2026-10-24', '0', 'Europe/Brussels', '2026-10-23 22:00:00'],
    ['2026-10-25', '-1440', 'Europe/Brussels', '2026-10-23 22:00:00'],
    ['2026-10-24', '2880', 'Europe/Brussels', '2026-10-25 23:00:00'],
    ['2026-10-25', '119', 'Europe/Brussels', '2026-10-24 23:59:00'],
    ['2026-10-25', '150', 'Europe/Brussels', '2026-10-25 01:30:00'],
    ['2026-10-24', '1590', 'Europe/Brussels', '2026-10-25 01:30:00'],
    ['2026-10-26', '-1290', 'Europe/Brussels', '2026-10-25 01:30:00'],
    ['2026-10-25', '180', 'Europe/Brussels', '2026-10-25 02:00:00'],
    ['2026-03-29', '119', 'Europe/Brussels', '2026-03-29 00:59:00'],
    ['2026-03-29', '150', 'Europe/Brussels', '2026-03-29 01:30:00'],
    ['2026-03-29', '180', 'Europe/Brussels', '2026-03-29 01:00:00'],
    ['2026-07-01', '480', 'Europe/Lisbon', '2026-07-01 07:00:00'],
    ['2026-07-01', '480', none, none],
    ['2026-07-01', '3000000000', 'Europe/Brussels', none],
    ['2026-07-01', '-9223372036854775808', 'Europe/Brussels', none],
] %}
{%- for day, minute, zone, expected in cases %}
{%- set local = protime.at_minute("cast('" ~ day ~ "' as date)", minute) %}
{%- set zone = protime.text_of(zone) if zone else 'cast(null as ' ~ dbt.type_string() ~ ')' %}
select '{{ day }} {{ minute }}' as local_time, {{ protime.absolute(local, zone) }} as clocked_at
where {{ protime.absolute(local, zone) }} at time zone 'UTC' is distinct from
  {{ "cast('" ~ expected ~ "' as " ~ dbt.type_timestamp() ~ ')' if expected else 'null' }}
union all
{%- endfor %}
-- The work locations that protime_time_zones has, and others.
{%- for location, zone in [['12', 'Europe/Lisbon'], ['13', 'Europe/Brussels'], ['cast(null as integer)', 'Europe/Brussels']] %}
select 'a location without {{ zone }}', null where {{ protime.time_zone_of(location) }} <> '{{ zone }}'
union all
{%- endfor %}
-- It is 00:30 in Brussels, while it is still the day before in UTC and in Lisbon.
{%- for zone, expected in [['Europe/Brussels', '2026-11-19 00:30:00'], ['Europe/Lisbon', '2026-11-18 23:30:00'], ['UTC', '2026-11-18 23:30:00']] %}
select 'now in {{ zone }}', null where {{ protime.local_now(protime.text_of(zone)) }} <> cast('{{ expected }}' as {{ dbt.type_timestamp() }})
union all
{%- endfor %}
-- In Santiago, which is the time zone of the session in PostgreSQL, 6 September begins at one o'clock.
select 'days', null from ({{ protime.days("cast('2026-09-05' as date)", "cast('2026-09-08' as date)") }}) days having count(*) <> 4
union all
select 'today', null where {{ protime.today() }} <> cast('2026-11-19' as date)
