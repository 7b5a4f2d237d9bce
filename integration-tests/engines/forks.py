"""Runs programs of Python one after the other, each in a fork of this process, which has imported the modules that take them longest.

forks.py MODULE...  reads a request a line from stdin, as JSON: {"args": the program's path and its arguments, "folder": where it
                    runs, "environment": all its variables, "stdout": a file, "stderr": a file, "seconds": when it is killed};
                    prints the exit code of each, negative for a signal
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import sys
from typing import Any, TextIO


def next_program(answers: TextIO) -> str | None:
    """The program to run, in a process that is ready for it; None in this process, when there is no further request."""
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            return prepared(request)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
    return None


def prepared(request: dict[str, Any]) -> str:
    """Makes this process as Python starts one."""
    signal.alarm(request["seconds"])
    # Only the last one, which closes what modules hold.
    atexit.register(gc.unfreeze)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.stdin = open(os.devnull)
    for number, path in ((0, os.devnull), (1, request["stdout"]), (2, request["stderr"])):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    sys.argv = request["args"]
    sys.path[0] = os.path.dirname(sys.argv[0])
    return sys.argv[0]


if __name__ == "__main__":
    # Modules may print what they like.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for module in sys.argv[1:]:
        importlib.import_module(module)
    # No collection of garbage in a fork need look at what is imported.
    gc.collect()
    gc.freeze()
    program = next_program(answers)
    if program is not None:
        runpy.run_path(program, run_name="__main__")
