"""Prints the rows of the staging models and what queries are answered as lines of JSON: {"model": ..., "row": ...}.

They have one form whoever has loaded them. dbt_rows.py duckdb FILE SCHEMA SQL NAME=FILE... | dbt_rows.py postgres URL SCHEMA SQL

With --answers as its first word, it prints no rows of the staging models. SCHEMA is that of the marts, SQL one query or several with ; between them. DuckDB attaches further files by these names.
"""

import datetime
import decimal
import json
import sys
from typing import Any

import duckdb
import psycopg2

STAGING = "_protime_staging"
MODELS = (
    "select table_name from information_schema.tables"
    " where table_schema = '{}' and table_name like 'stg_protime__%' order by 1"
)
# Of the loader or of the time of a sync, and different for each.
LEFT_OUT = {"tenant", "_loaded_at", "as_of"}


def plain(value: Any) -> Any:
    """Numbers are floats, days texts, and JSON is read: loaders write it with other spaces and other orders."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, str) and value[:1] in ("{", "["):
        return json.loads(value)
    return value


def main(has_staging: bool, kind: str, place: str, schema: str, sql: str, *attached: str) -> None:
    if kind == "duckdb":
        connection = duckdb.connect(place, read_only=True)
        for name, file in (pair.split("=", 1) for pair in attached):
            connection.execute(f"attach '{file}' as {name} (read_only)")
    else:
        connection = psycopg2.connect(place, options=f"-c search_path={schema}")
    cursor = connection.cursor()
    cursor.execute(MODELS.format(schema + STAGING))
    models = [name for (name,) in cursor.fetchall() if has_staging]
    selects = {model: f'select * from "{schema}{STAGING}"."{model}"' for model in models}
    for model, select in [*selects.items(), *(("answer", query) for query in sql.split(";"))]:
        cursor.execute(select)
        names = [column[0] for column in cursor.description]
        for row in cursor.fetchall():
            values = {name: plain(value) for name, value in zip(names, row)}
            if model in selects:
                values = {name: value for name, value in values.items() if name not in LEFT_OUT}
            print(json.dumps({"model": model, "row": values}, sort_keys=True))


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--answers"]
    main(len(words) == len(sys.argv) - 1, *words)
