"""The worker process: one task on standard input, one answer on standard output, then it ends.

Started with ``python -I``: neither the environment nor the working directory decides what is imported.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping

from bot.collector import collect_seldom
from bot.ending import end
from bot.worker.confinement import confine
from bot.worker.wire import Task, unpack

Answer = dict[str, object]


def main(words: list[str]) -> int:
    """Read the task, do it within the limits in ``words`` (CPU seconds, bytes of memory), print the answer."""
    cpu_seconds, memory_bytes = map(int, words)
    collect_seldom()
    tasks = _tasks()  # imported before the limits: importing opens files, and is ours
    confine(cpu_seconds, memory_bytes)
    task = unpack(sys.stdin.buffer)
    answer = tasks[task.what](task)
    json.dump(answer, sys.stdout)
    return 0


def _tasks() -> Mapping[str, Callable[[Task], Answer]]:
    from bot.worker.tasks import TASKS  # noqa: PLC0415  # the whole analysis; not needed to refuse bad arguments

    return TASKS


if __name__ == "__main__":
    end(main(sys.argv[1:]))
