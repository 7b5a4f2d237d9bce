"""Parses each line of a file as an AirbyteMessage; the first that is none ends it with an error.

What a model does not know it keeps as an extra field, so each message must also fill exactly one
of the bodies that the model knows.
"""

import sys

from airbyte_protocol.models import AirbyteMessage

BODIES = [name for name in AirbyteMessage.__fields__ if name != "type"]


def parse(line: str) -> None:
    message = AirbyteMessage.parse_raw(line)
    filled = [name for name in BODIES if getattr(message, name) is not None]
    if len(filled) != 1:
        raise ValueError(f"{message.type} has the bodies {filled}")


def main(path: str) -> int:
    count = 0
    with open(path, encoding="utf-8") as lines:
        for count, line in enumerate(lines, start=1):
            parse(line)
    return 0 if count > 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
