"""Work in a fork gives what it gives here, and what goes wrong there is made up for here."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial

import pytest

from bot.beside import beside

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]
HERE = os.getpid()


def elsewhere(accident: Callable[[], object]) -> bool:
    """Whether another process than the test's does this; there ``accident`` happens first."""
    if os.getpid() == HERE:
        return False
    accident()
    return True


def test_works_are_done_in_a_process_of_its_own_that_ends() -> None:
    with beside(os.getpid, lambda: b"x" * 3_000_000, os.getpid, apart=True) as (first, second, _):
        child = first()
        assert child != HERE
        assert second() == b"x" * 3_000_000
    with pytest.raises(ChildProcessError):
        os.waitpid(child, 0)


def test_without_one_works_are_done_here_when_they_are_asked_for() -> None:
    done: list[str] = []
    with beside(lambda: done.append("first"), lambda: done.append("second"), lambda: done.append("either"), apart=False) as (first, _, either):
        assert done == []
        first()
        either()
    assert done == ["first", "either"]


def test_the_last_work_is_done_by_whoever_has_time_first() -> None:
    here, there = os.pipe(), os.pipe()
    with beside(lambda: os.read(here[0], 1), os.getpid, os.getpid, apart=True) as (first, second, either):
        assert either() == HERE  # the fork still waits
        os.write(here[1], b"1")
        assert (first(), second() != HERE) == (b"1", True)
    with beside(os.getpid, os.getpid, lambda: os.write(there[1], b"1") and os.getpid(), apart=True) as (first, second, either):
        assert os.read(there[0], 1) == b"1"  # the fork has begun
        assert first() == second() == either() != HERE


@pytest.mark.parametrize(
    "accident", [partial(os._exit, 1), lambda: 1 / 0, lambda: os.kill(os.getpid(), signal.SIGKILL)], ids=["it ends", "it raises", "it is killed"]
)
def test_what_does_not_come_is_made_here(accident: Callable[[], object]) -> None:
    with beside(lambda: elsewhere(int), partial(elsewhere, accident), partial(elsewhere, accident), apart=True) as (first, second, either):
        assert first() is True
        assert second() is False
        assert either() is False


def test_what_was_begun_and_does_not_come_is_made_here() -> None:
    begun = os.pipe()

    def ends() -> bool:
        os.write(begun[1], b"1")
        return elsewhere(partial(os._exit, 1))

    with beside(os.getpid, os.getpid, ends, apart=True) as (_, second, either):
        os.read(begun[0], 1)
        assert either() is False
        assert second() != HERE


def test_what_cannot_be_sent_is_made_here() -> None:
    with beside(lambda: lambda: f"in {os.getpid()}", os.getpid, os.getpid, apart=True) as (first, second, _):
        assert first()() == f"in {HERE}"
        assert second() == HERE


def test_an_exception_is_raised_where_the_result_is_asked_for() -> None:
    with beside(lambda: 1 / 0, os.getpid, os.getpid, apart=True) as (first, _, _), pytest.raises(ZeroDivisionError):
        first()
