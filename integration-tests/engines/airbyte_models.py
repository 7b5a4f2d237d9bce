"""Judges a file by the models of Airbyte's own Python packages; where it does not fit, the program ends with an error.

airbyte_models.py messages FILE  parses each line of an output as an AirbyteMessage
airbyte_models.py metadata FILE  reads a metadata.yaml as the tools of Airbyte's registry do

The two packages are in environments of their own, so each is imported where it is needed.
"""

import sys
from pathlib import Path


def messages(path: Path) -> None:
    """What a model does not know it keeps as an extra field, so each message must also fill exactly one body that it knows."""
    from airbyte_protocol.models import AirbyteMessage

    bodies = [name for name in AirbyteMessage.__fields__ if name != "type"]
    lines = path.read_text("utf-8").splitlines()
    if not lines:
        raise ValueError("there is no message")
    for line in lines:
        message = AirbyteMessage.parse_raw(line)
        filled = [name for name in bodies if getattr(message, name) is not None]
        if len(filled) != 1:
            raise ValueError(f"{message.type} has the bodies {filled}")


def metadata(path: Path) -> None:
    import yaml
    from airbyte_connector_models.metadata.v0.connector_metadata_definition_v0 import (
        ConnectorMetadataDefinitionV0,
    )

    ConnectorMetadataDefinitionV0.model_validate(yaml.safe_load(path.read_text("utf-8")))


if __name__ == "__main__":
    {"messages": messages, "metadata": metadata}[sys.argv[1]](Path(sys.argv[2]))
