{% macro literal(text) %}{{ return("cast('" ~ text | replace("'", "''") ~ "' as " ~ dbt.type_string() ~ ")") }}{% endmacro %}
