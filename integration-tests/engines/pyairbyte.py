"""One use of PyAirbyte; each command is a process of its own, as for its users.

pyairbyte.py check CONNECTOR CONFIG          prints true, or why the check failed
pyairbyte.py discover CONNECTOR CONFIG       prints the names of the streams
pyairbyte.py read CONNECTOR CONFIG DATABASE  reads every stream into DuckDB and prints the tables
pyairbyte.py types CONNECTOR CONFIG DATABASE prints the types of the columns that were made, by table

CONNECTOR is an executable, or a wheel that PyAirbyte installs itself, below the folder of CONFIG.

The last line of stdout is the answer as JSON.
"""

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import airbyte as ab
import duckdb
from airbyte import exceptions

SCHEMA = "tenant"


def check(source: ab.Source) -> bool | str:
    try:
        source.check()
    except exceptions.AirbyteConnectorCheckFailedError as error:
        return str(error)
    return True


def read(source: ab.Source, database: Path) -> dict[str, list[dict[str, Any]]]:
    source.select_all_streams()
    cache = ab.caches.DuckDBCache(db_path=database, schema_name=SCHEMA)
    source.read(cache=cache)
    streams = source.get_selected_streams()
    # The cache keeps the file open; a connection of its own would be refused.
    cache.close()
    with duckdb.connect(str(database), read_only=True) as connection:
        return {stream: rows(connection, stream) for stream in streams}


def rows(connection: duckdb.DuckDBPyConnection, stream: str) -> list[dict[str, Any]]:
    result = connection.execute(f'SELECT * FROM "{SCHEMA}"."{stream}"')
    columns = [column[0] for column in result.description]
    return [dict(zip(columns, row)) for row in result.fetchall()]


def types(database: Path) -> dict[str, dict[str, str]]:
    sql = (
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = ?"
    )
    tables: dict[str, dict[str, str]] = {}
    with duckdb.connect(str(database), read_only=True) as connection:
        for table, column, kind in connection.execute(sql, [SCHEMA]).fetchall():
            tables.setdefault(table, {})[column] = kind
    return tables


def source_of(connector: str, config: Path) -> ab.Source:
    settings = json.loads(config.read_text(encoding="utf-8"))
    if connector.endswith(".whl"):
        root = config.parent / "installed"
        root.mkdir(exist_ok=True)
        return ab.get_source(
            "source-protime", config=settings, pip_url=connector, install_root=root
        )
    return ab.get_source("source-protime", config=settings, local_executable=connector)


def main(command: str, connector: str, config: str, *rest: str) -> Any:
    source = source_of(connector, Path(config))
    if command == "check":
        return check(source)
    if command == "discover":
        return source.get_available_streams()
    if command == "types":
        return types(Path(rest[0]))
    return read(source, Path(rest[0]))


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        answer = main(*sys.argv[1:])
    # Dates and decimals as text.
    print(json.dumps(answer, default=str))
