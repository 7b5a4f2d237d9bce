{#-
  What the columns of the marts are made of: by model, lists of columns, and the fields, by stream, without which these are not
  known. The names of fields are those of the service.
-#}
{% macro inputs() %}
{%- set period = ['person', 'from', 'until'] -%}
{%- set history = [] -%}
{%- for kind, field, stream, names in [['department', 'department', 'department_histories', 'departments'],
    ['employer', 'employer', 'employer_histories', 'employers'], ['job', 'job', 'job_histories', 'jobs'],
    ['job_category', 'jobCategory', 'job_category_histories', 'job_categories'], ['sector', 'sector', 'sector_histories', 'sectors'],
    ['work_location', 'workLocation', 'work_location_histories', 'work_locations']] -%}
  {%- do history.append([[kind ~ '_id'], {stream: period + [field]}]) -%}
  {%- do history.append([[kind ~ '_name'], {stream: period + [field], names: ['name']}]) -%}
{%- endfor -%}
{%- do history.append([['contract_id'], {'contracts': period}]) -%}
{%- do history.append([['fte'], {'contracts': period + ['contractHoursInMinutes', 'fullTimeEquivalentInMinutes', 'contractPercentage']}]) -%}
{%- set kinds = {'absence_definitions': ['absenceGroup'], 'absence_groups': ['type']} -%}
{%- set absence = ['person', 'date', 'approvalLevel', 'durationInMinutes', 'calculatedDurationInMinutes'] -%}
{%- set definitions = ['resultingAbsenceDefinition', 'requestedAbsenceDefinition'] -%}
{%- set counters = {'counters': ['person', 'date', 'counterDefinition', 'durationInMinutes'], 'counter_definitions': ['name'], 'variables': ['protime_overtime_counters']} -%}
{%- set service = {'people': ['inServiceDate', 'outOfServiceDate']} -%}
{%- set clocked = ['person', 'date', 'kind'] -%}
{%- set minutes = ['timeOfDayInMinutes', 'calculatedTimeOfDayInMinutes'] -%}
{{ return({
  'protime__people': [[['is_in_service'], service]] + history,
  'protime__person_history': history,
  'protime__person_days': [
    [['due_minutes'], {'calculated_totals': ['person', 'date', 'normalTimeDurationInMinutes']}],
    [['present_minutes'], {'calculated_totals': ['person', 'date', 'timePresentDurationInMinutes']}],
    [['paid_minutes'], {'paid_presences': ['person', 'date', 'durationInMinutes']}],
    [['absent_minutes', 'elsewhere_minutes'], dict(kinds, absences=absence + definitions)],
    [['overtime_minutes'], counters],
    [['break_minutes'], {'breaks': ['person', 'date', 'isBreakTaken', 'calculatedDurationInMinutes']}],
    [['clockings'], {'clockings': ['person', 'date']}],
    [['first_minute', 'last_minute'], {'clockings': clocked + minutes}],
    [['shift_name'], {'calculated_totals': ['shiftDefinition'], 'shift_definitions': ['name']}],
  ] + (history | selectattr('0.0', 'in', ['department_id', 'department_name', 'employer_id', 'employer_name', 'job_id', 'work_location_id', 'fte']) | list),
  'protime__absences': [
    [['decision'], {'absences': ['approvalLevel']}],
    [['absent_minutes'], {'absences': ['durationInMinutes', 'calculatedDurationInMinutes']}],
    [['absence_definition_id'], {'absences': definitions}],
    [['absence_name'], {'absences': definitions, 'absence_definitions': ['name']}],
    [['is_working_elsewhere'], dict(kinds, absences=definitions)],
  ] + (history | selectattr('0.0', 'in', ['department_id', 'department_name']) | list),
  'protime__absence_years': [
    [['days_taken', 'days_planned'], {'absences': ['person', 'date', 'approvalLevel']}],
    [['minutes_taken', 'minutes_planned', 'minutes_awaiting'], {'absences': absence}],
    [['absence_definition_id'], {'absences': definitions}],
    [['absence_name'], {'absences': definitions, 'absence_definitions': ['name']}],
  ],
  'protime__clockings': [
    [['local_time', 'clocked_at'], {'clockings': ['date', 'timeOfDayInMinutes']}],
    [['is_edited'], {'clockings': ['originalTimeOfDayInMinutes']}],
  ] + (history | selectattr('0.0', 'in', ['work_location_id']) | list),
  'protime__counters': [
    [['minutes', 'minutes_of_year'], {'counters': ['person', 'date', 'counterDefinition', 'durationInMinutes']}],
    [['instances'], {'counters': ['person', 'date', 'counterDefinition', 'numberOfInstances']}],
    [['counter_name'], {'counters': ['counterDefinition'], 'counter_definitions': ['name']}],
    [['is_overtime'], counters],
  ],
  'protime__headcount_days': [
    [['date_day'], {'calculated_totals': ['date']}],
    [['headcount'], service],
  ] + (history | selectattr('0.0', 'in', ['department_id', 'department_name', 'employer_id', 'employer_name', 'fte']) | list),
  'protime__clocking_anomalies': [
    [['missing_clocking'], {'clockings': clocked}],
    [['edited'], {'clockings': ['person', 'date', 'originalTimeOfDayInMinutes']}],
    [['generated'], {'clockings': ['person', 'date', 'isGenerated']}],
    [['present_without_clocking'], {'clockings': ['person', 'date'], 'calculated_totals': ['person', 'date', 'timePresentDurationInMinutes']}],
    [['due_but_neither_present_nor_absent'], dict(kinds, absences=absence + definitions,
      calculated_totals=['person', 'date', 'normalTimeDurationInMinutes', 'timePresentDurationInMinutes'])],
    [['clocked_while_absent_all_day'], dict(kinds, absences=absence + definitions, clockings=['person', 'date'],
      calculated_totals=['person', 'date', 'normalTimeDurationInMinutes'])],
  ],
  'protime__presence_now': [
    [['person_id'], service],
    [['presence'], {'clockings': clocked + ['timeOfDayInMinutes'], 'absences': ['person', 'date', 'approvalLevel'] + definitions, 'absence_definitions': ['absenceGroup'], 'absence_groups': ['type']}],
    [['first_minute', 'last_minute'], {'clockings': clocked + minutes}],
  ] + (history | selectattr('0.0', 'in', ['department_id', 'department_name']) | list),
}) }}
{% endmacro %}

{#- The streams that a mart needs. -#}
{% macro needed_streams() %}
  {%- set streams = [] -%}
  {%- for inputs in protime.inputs().values() -%}
    {%- for _, needs in inputs -%}{%- do streams.extend(needs) -%}{%- endfor -%}
  {%- endfor -%}
  {{ return(streams | reject('eq', 'variables') | unique | sort) }}
{% endmacro %}

{#-
  By tenant, whether each measure of a model is known: a boolean with the name of the first of its columns. If it is, then since the
  day in `<name>_since`, which is null without such a day: the streams of a tenant may be kept for different numbers of months.
-#}
{% macro known(model) %}
{%- set inputs = protime.inputs()[model] -%}
(
  select tenants.tenant
    {%- for columns, _ in inputs %},
    max(case when lacks.measure = '{{ columns[0] }}' then 1 else 0 end) = 0 as {{ columns[0] }}, max(firsts.{{ columns[0] }}) as {{ columns[0] }}_since
    {%- endfor %}
  from (
    {%- for tenant in protime.tenants() %}
    select {{ protime.text_of(tenant.name) }} as tenant {{ 'union all' if not loop.last }}
    {%- endfor %}
  ) tenants
  left join {{ ref('int_protime__missing_inputs') }} lacks on lacks.tenant = tenants.tenant and lacks.model = '{{ model }}'
  left join (
    select tenant {%- for columns, needs in inputs %},
      max(case when stream in ('{{ needs | join("', '") }}') then from_date end) as {{ columns[0] }}
      {%- endfor %}
    from {{ ref('stg_protime__inventory') }} where part = 'all' group by tenant
  ) firsts on firsts.tenant = tenants.tenant
  group by tenants.tenant
)
{% endmacro %}

{#-
  The sum of a value over the rows of a group for which a condition holds: 0 if there are none; null if one of them has no
  value, or if it is unknown whether the condition holds.
-#}
{% macro total(value, condition) %}
  {{- return('case when max(case when (' ~ condition ~ ') is null or ((' ~ condition ~ ') and ' ~ value ~ ' is null) then 1 else 0 end) = 0 then sum(case when '
    ~ condition ~ ' then ' ~ value ~ ' else 0 end) end') -}}
{% endmacro %}

{#- The sum of a person's day: 0 on a day without records of them, null if the records are not known, or not of that day. -#}
{% macro of_day(alias, column, measure=none) %}
  {%- set known = 'known.' ~ (measure or column) -%}
  {{- return('case when not ' ~ known ~ ' then null when ' ~ alias ~ '.tenant is null and t.date_day >= coalesce(' ~ known ~ '_since, t.date_day) then 0 else '
    ~ alias ~ '.' ~ column ~ ' end as ' ~ column) -}}
{% endmacro %}

{#- Whether a measure is known of all days of a year. -#}
{% macro of_whole_year(measure, year) %}
  {{- return('(known.' ~ measure ~ ' and coalesce(extract(year from ' ~ dbt.dateadd('day', -1, 'known.' ~ measure ~ '_since') ~ ') < ' ~ year ~ ', true))') -}}
{% endmacro %}
