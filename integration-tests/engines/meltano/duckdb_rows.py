"""Prints every row of every table of the schema protime as one line of JSON, and each table once."""

import sys

import duckdb

with duckdb.connect(sys.argv[1], read_only=True) as connection:
    tables = connection.execute(
        "select table_name from information_schema.tables where table_schema = 'protime'"
    ).fetchall()
    for (table,) in tables:
        print(f'{{"table":"{table}","row":null}}')
        for (row,) in connection.execute(f'select to_json(t) from protime."{table}" t').fetchall():
            print(f'{{"table":"{table}","row":{row}}}')
