"""Runs FAST against an executable, in the place where it expects a Python connector.

Prints the outcomes of its tests as one line of JSON. Arguments: the executable, and the folder of its
acceptance-test-config.yml.
"""

import contextlib
import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from airbyte_cdk.test import entrypoint_wrapper
from airbyte_cdk.test.standard_tests.source_base import SourceTestSuiteBase

# As a program, this file has pytest collect it once more, as the suite.
if __name__ == "__main__":
    os.environ["FAST_EXECUTABLE"], os.environ["FAST_ROOT"] = sys.argv[1:]

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


class Outcomes:
    """Collects what became of each test."""

    def __init__(self) -> None:
        self.tests: list[dict[str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return
        name = report.nodeid.split("::")[-1]
        config = re.search(r"\['([^']+)'", name)
        self.tests.append(
            {
                "test": name.split("[")[0],
                "config": config.group(1) if config else "",
                "outcome": report.outcome,
                "text": str(report.longrepr)[-3000:] if report.longrepr else "",
            }
        )


def main() -> int:
    outcomes = Outcomes()
    arguments = [
        __file__,
        f"--rootdir={ROOT}",
        "-p", "airbyte_cdk.test.standard_tests.pytest_hooks",
        "-p", "no:cacheprovider",
        "-m", "not image_tests",
        "-W", "error::airbyte_cdk.test.standard_tests.DiscoveredCatalogWarning",
    ]
    with contextlib.redirect_stdout(sys.stderr):
        code = pytest.main(arguments, plugins=[outcomes])
    if not outcomes.tests:
        return int(code) or 1
    print(json.dumps(outcomes.tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
