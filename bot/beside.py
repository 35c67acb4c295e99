"""Work done beside this process, in a fork of it, where the machine has a processor to spare; else here, once its result is asked for.

The fork starts from all that was read until then and sends its results back. Whatever keeps one from coming (an exception, a limit)
leaves it to be made here, so that a result or an error is the same either way. One work is for whoever has time first: the fork once
it is done with its own, or this process once it asks for it.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import IO, Any, NoReturn, TypeVar

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

#: Bytes that wait in the pipe for their reader, where Linux lets a pipe grow: the fork goes on with its next work meanwhile.
_PIPE_BYTES = 1 << 20


def may_fork() -> bool:
    """Whether there is a second processor, and this process can be forked without harm: one with threads cannot."""
    return hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1 and threading.active_count() == 1


@contextmanager
def beside(
    first: Callable[[], A], second: Callable[[], B], either: Callable[[], C], *, apart: bool
) -> Iterator[tuple[Callable[[], A], Callable[[], B], Callable[[], C]]]:
    """The results of three works, to be asked for. ``apart``: a fork begins with the first two now.

    ``either`` is begun by the fork after these, unless it was asked for before. The results must bear pickling. The fork ends with
    the context at the latest.
    """
    if not apart:
        yield cache(first), cache(second), cache(either)
        return
    (reading, writing), (taking, giving) = os.pipe(), os.pipe()
    os.write(giving, b"1")  # whoever takes the byte does the work
    os.close(giving)
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(writing, first, second, lambda: either() if os.read(taking, 1) else None)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            sent = _Sent(stream, (first, second, either))
            last = cache(lambda: either() if os.read(taking, 1) else sent.result(2))
            yield partial(sent.result, 0), partial(sent.result, 1), last
    finally:
        os.close(taking)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class _Sent:
    """What the fork sends, in the order of ``works``; what does not come is made here."""

    def __init__(self, stream: IO[bytes], works: Sequence[Callable[[], Any]]) -> None:
        self._stream = stream
        self._works = works
        self._results: list[Any] = []

    def result(self, place: int) -> Any:
        """That of the work at ``place``."""
        while len(self._results) <= place:
            self._results.append(self._next(self._works[len(self._results)]))
        return self._results[place]

    def _next(self, work: Callable[[], Any]) -> Any:
        try:
            return pickle.load(self._stream)  # noqa: S301  # our own fork wrote it
        except (EOFError, pickle.UnpicklingError):
            return work()


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
