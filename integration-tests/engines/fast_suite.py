"""FAST, with a command line in the place where it expects a Python connector."""

import logging
import os
import subprocess
from pathlib import Path
from typing import Any

from airbyte_cdk.test import entrypoint_wrapper
from airbyte_cdk.test.standard_tests.source_base import SourceTestSuiteBase

EXECUTABLE = os.environ["FAST_EXECUTABLE"]
ROOT = Path(os.environ["FAST_ROOT"])
LIMIT_SECONDS = 300


class Connector:
    """What FAST takes for a connector; the executable does the work."""

    def spec(self, logger: logging.Logger) -> Any:
        raise NotImplementedError("the executable is asked instead")


def run_command(
    source: Connector,
    args: list[str],
    expecting_exception: bool | None = None,
    *,
    expected_outcome: Any = None,
) -> entrypoint_wrapper.EntrypointOutput:
    ended = subprocess.run(
        [EXECUTABLE, *args], capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    return entrypoint_wrapper.EntrypointOutput(
        messages=ended.stdout.splitlines(), command=[EXECUTABLE, *args], stderr=ended.stderr
    )


entrypoint_wrapper._run_command = run_command


class TestSource(SourceTestSuiteBase):
    """The suite for a source, told where the connector is."""

    connector = Connector
    connector_name = "source-protime"

    @classmethod
    def get_connector_root_dir(cls) -> Path:
        return ROOT

    @classmethod
    def create_connector(cls, scenario: Any) -> Connector:
        return Connector()
