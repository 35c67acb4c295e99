"""Runs programs under PyTorch, each in a process of its own, and prints what they measured. Needs torch and nothing of this project.

Standard input is a JSON object of sources by name; standard output one of the same names with each program's ``measured``, or with the
sentence that its error was.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import sys
from multiprocessing.connection import Connection

import torch
import torch._dynamo  # optimizers import it in their first step: once here instead of once in every process

_PATIENCE_SECONDS = 120


def main() -> None:
    """Run them all."""
    torch.set_num_threads(1)
    sources: dict[str, str] = json.load(sys.stdin)
    json.dump({name: _measured(name, source) for name, source in sources.items()}, sys.stdout)


def _measured(name: str, source: str) -> object:
    context = multiprocessing.get_context("fork")  # torch is imported once
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(name, source, there))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(_PATIENCE_SECONDS) else f"no answer in {_PATIENCE_SECONDS} s"
    except EOFError:
        return "the process ended without an answer"
    finally:
        process.kill()
        process.join()


def _run(name: str, source: str, answer: Connection) -> None:
    torch.seed()  # as a process of its own begins: the fork has the state of its parent
    namespace: dict[str, object] = {"__name__": "__main__"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, name, "exec"), namespace)  # noqa: S102  # the program is the benchmark's own
        answer.send(namespace["measured"])
    except BaseException as error:  # noqa: BLE001  # whatever it raises is the answer
        answer.send(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
