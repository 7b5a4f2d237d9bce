"""validate_sbom.py FILE: fails with the reason when the file is no CycloneDX document."""

import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(Path(sys.argv[1]).read_text("utf-8"))
if fault is not None:
    sys.exit(str(fault))
