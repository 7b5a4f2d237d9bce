#!/usr/bin/env python3
"""A tap of one CSV file: each line is a record of the stream that has the name of the file."""

import csv
import json
import sys
from pathlib import Path


def say(message: dict) -> None:
    print(json.dumps(message), flush=True)


def main(arguments: list[str]) -> None:
    config = json.loads(Path(arguments[arguments.index("--config") + 1]).read_text())
    path = Path(config["file"])
    with path.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    properties = {name: {"type": "string"} for name in rows[0]}
    schema = {"type": "object", "properties": properties}
    say({"type": "SCHEMA", "stream": path.stem, "schema": schema, "key_properties": ["id"]})
    for row in rows:
        say({"type": "RECORD", "stream": path.stem, "record": row})
    say({"type": "STATE", "value": {"lines": len(rows)}})


main(sys.argv)
