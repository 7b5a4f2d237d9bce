"""Runs FAST against an executable and prints the outcomes of its tests as one line of JSON.

Arguments: the executable, and the folder of its acceptance-test-config.yml.
"""

import contextlib
import json
import os
import re
import sys
from pathlib import Path

import pytest


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


def main(executable: str, root: str) -> int:
    os.environ["FAST_EXECUTABLE"] = executable
    os.environ["FAST_ROOT"] = root
    outcomes = Outcomes()
    suite = Path(__file__).with_name("fast_suite.py")
    arguments = [
        str(suite),
        f"--rootdir={root}",
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
    sys.exit(main(*sys.argv[1:]))
