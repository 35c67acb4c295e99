"""Work done beside this process, in a fork of it, where the machine has a processor to spare; else here, once its result is asked for.

The fork starts from all that was read until then and sends its results back. Whatever keeps one from coming (an exception, a limit)
leaves it to be made here, so that a result or an error is the same either way.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NoReturn, TypeVar

A = TypeVar("A")
B = TypeVar("B")

#: Bytes that wait in the pipe for their reader, where Linux lets a pipe grow: the fork goes on with its next work meanwhile.
_PIPE_BYTES = 1 << 20


def may_fork() -> bool:
    """Whether there is a second processor, and this process can be forked without harm: one with threads cannot."""
    return hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1 and threading.active_count() == 1


@contextmanager
def beside(first: Callable[[], A], second: Callable[[], B], *, apart: bool) -> Iterator[tuple[Callable[[], A], Callable[[], B]]]:
    """The results of two works, to be asked for in their order, once each. ``apart``: a fork begins with them now.

    The results must bear pickling. The fork ends with the context at the latest.
    """
    if not apart:
        yield first, second
        return
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(writing, first, second)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            yield (lambda: _result(stream, first)), (lambda: _result(stream, second))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _result(stream: IO[bytes], work: Callable[[], A]) -> A:
    """What the fork sent, or else what ``work`` gives here."""
    try:
        result: A = pickle.load(stream)  # noqa: S301  # our own fork wrote it
    except (EOFError, pickle.UnpicklingError):
        return work()
    return result


def _work(writing: int, *works: Callable[[], Any]) -> NoReturn:
    """In the fork: send what each work gives, and end. It says nothing itself: what fails is done again where it can be said."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nowhere, standard)
        with suppress(OSError):
            _widen(writing)
        with os.fdopen(writing, "wb") as stream:
            for work in works:
                pickle.dump(work(), stream)
                stream.flush()
    finally:
        os._exit(0)


def _widen(pipe: int) -> None:
    import fcntl  # noqa: PLC0415  # Unix alone has it

    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
