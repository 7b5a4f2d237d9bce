"""Fails where a metadata.yaml is none, by the models that the tools of Airbyte's registry use.

Argument: the file.
"""

import sys
from pathlib import Path

import yaml
from airbyte_connector_models.metadata.v0.connector_metadata_definition_v0 import (
    ConnectorMetadataDefinitionV0,
)

ConnectorMetadataDefinitionV0.model_validate(yaml.safe_load(Path(sys.argv[1]).read_text()))
