"""The worker process: one task on standard input, one answer on standard output, then it ends.

Started with ``python -I``: neither the environment nor the working directory decides what is imported.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from bot.collector import collect_seldom
from bot.ending import end
from bot.sources.release import LocalShelf
from bot.worker.confinement import confine
from bot.worker.wire import Task, unpack
from estimator.sources import Shelf

Answer = dict[str, object]


def main(words: list[str]) -> int:
    """Read the task, do it within the limits in ``words`` (CPU seconds, bytes of memory) and with the libraries' source in the last, print the answer."""
    cpu_seconds, memory_bytes, folder = int(words[0]), int(words[1]), Path(words[2])
    collect_seldom()
    tasks = _tasks()  # imported before the limits: importing opens files, and is ours
    confine(cpu_seconds, memory_bytes, folder)
    task = unpack(sys.stdin.buffer)
    answer = tasks[task.what](task, LocalShelf(folder))
    json.dump(answer, sys.stdout)
    return 0


def _tasks() -> Mapping[str, Callable[[Task, Shelf], Answer]]:
    from bot.worker.tasks import TASKS  # noqa: PLC0415  # the whole analysis; not needed to refuse bad arguments

    return TASKS


if __name__ == "__main__":
    end(main(sys.argv[1:]))
