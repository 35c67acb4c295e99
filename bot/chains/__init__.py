"""The chains of steps behind each kind of job: reading, analysing, writing; every step may run twice."""

from __future__ import annotations

from collections.abc import Mapping

from bot.chains.answer_comment import answer_chain
from bot.chains.forget_installation import forget_chain
from bot.chains.rerun_suite import rerun_chain
from bot.chains.review_merge import merge_chain
from bot.chains.review_pull import review_chain
from bot.chains.scan_branch import scan_chain
from bot.chains.withdraw_check import withdraw_chain
from bot.job import Chain
from bot.workplace import Workplace


def chains(place: Workplace) -> Mapping[str, Chain]:
    """Every kind of job."""
    of_repositories = {
        "review": review_chain(place),
        "answer": answer_chain(place),
        "withdraw": withdraw_chain(place),
        "merge": merge_chain(place),
        "rerun": rerun_chain(place),
        "scan": scan_chain(place),
    }
    return of_repositories | {"forget": forget_chain(place, of_repositories)}
