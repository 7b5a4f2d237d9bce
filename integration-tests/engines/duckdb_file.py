"""Opens a DuckDB file: `read` prints how many rows each view and each table has and what is said of it, `write` adds a table."""

import json
import sys

import duckdb

command, path = sys.argv[1:]
with duckdb.connect(path, read_only=command == "read") as connection:
    if command == "write":
        connection.execute("create or replace table mine as select 1 as x")
    else:
        streams = connection.execute("select stream from _protime.streams").fetchall()
        comments = dict(
            connection.execute(
                "select table_name, comment from duckdb_tables() where schema_name = 'main'"
            ).fetchall()
        )
        counts = {}
        for (stream,) in streams:
            counts[stream] = [
                len(connection.execute(f'from {schema}."{stream}"').fetchall())
                for schema in ("main", "flat")
            ] + [comments[stream]]
        print(json.dumps(counts))
