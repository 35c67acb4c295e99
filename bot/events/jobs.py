"""The jobs that events and commands ask for, each made in one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.events.payload import MalformedPayloadError, read
from bot.job import Job, Json

_REPOSITORY = ("installation", "repository", "full_name")


def review_job(delivery: str, facts: Json, number: int, head: str, *, again: bool, asked: bool = False) -> Job:
    """The job that reviews a pull request of the repository in ``facts``: ``again`` even if its head was reviewed before.

    ``asked``: somebody wants this look, so that it is given on a draft and while reviews are paused.
    """
    wanted = {"number": number, "head": head, "request": delivery if again else "", "asked": asked}
    return _job("review", f"{number}", delivery, facts, wanted, replaces=True, when_replaced="withdraw")


def answer_job(delivery: str, facts: Json, number: int, author: str, commands: Sequence[Sequence[str]], comment: int = 0) -> Job:
    """The job that answers ``commands`` of ``author``, given in ``comment`` (0: by a button)."""
    wanted = {"number": number, "comment": comment, "author": author, "commands": [list(words) for words in commands]}
    return _job("answer", f"{number}", delivery, facts, wanted)


def merge_job(delivery: str, facts: Json, head: str, base: str, *, again: bool = False, destroyed: bool = False) -> Job:
    """The job that reports on the commit ``head`` of a merge queue, which goes on top of ``base``; ``destroyed``: the group is gone."""
    wanted = {"head": head, "base": base, "request": delivery if again else "", "destroyed": destroyed}
    return _job("merge", head, delivery, facts, wanted, replaces=True, when_replaced="withdraw")


def forget_job(delivery: str, installation: int, repositories: Iterable[object]) -> Job:
    """The job that removes what is kept of ``repositories`` (as GitHub lists them) of an installation."""
    ids = [_id(each) for each in repositories]
    return Job("forget", f"installation/{installation}", installation, delivery, {"installation": installation, "repositories": ids})


def _job(kind: str, subject: str, delivery: str, facts: Json, wanted: Json, *, replaces: bool = False, when_replaced: str = "") -> Job:
    repository = {name: facts[name] for name in _REPOSITORY} | {"delivery": delivery}
    return Job(kind, f"{facts['repository']}/{subject}", facts["installation"], delivery, repository | wanted, replaces, when_replaced)


def _id(repository: object) -> int:
    if not isinstance(repository, dict):
        raise MalformedPayloadError("the list of repositories does not hold objects")
    return read(repository, "id", int)
