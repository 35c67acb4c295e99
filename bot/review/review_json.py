"""A review as ``review --format json`` prints it, and back. ``comment`` and ``summary`` are made from the rest."""

from __future__ import annotations

from analysis.settings import Settings
from bot.review.check_run import summary
from bot.review.comment import memory_comment
from bot.review.estimate_json import estimate_from_json
from bot.review.finding_json import (
    Json,
    counts_from_json,
    counts_to_json,
    finding_from_json,
    finding_to_json,
    remarks_from_json,
    remarks_to_json,
)
from bot.review.result import EstimatePair, Review
from estimator.report import estimate_document


def review_to_json(review: Review) -> Json:
    """Everything but ``comment`` and ``summary``, which ``rendered_json`` adds."""
    return {
        "version": 1,
        "base": review.base,
        "head": review.head,
        "merge_base": review.merge_base,
        "introduced": [finding_to_json(finding) for finding in review.introduced],
        "fixed": [finding_to_json(finding) for finding in review.fixed],
        "existing": [finding_to_json(finding) for finding in review.existing],
        "unresolved": remarks_to_json(review.unresolved),
        "not_analysed": remarks_to_json(review.not_analysed),
        "estimates": [_pair_to_json(pair) for pair in review.estimates],
        "files": review.files,
        "rules": review.rules,
        "unsure": review.unsure,
        **counts_to_json("suppressed", review.suppressed),
        "problems": list(review.problems),
    }


def rendered_json(review: Review, settings: Settings) -> Json:
    """The whole of ``review --format json``: with the memory comment, if it is worth posting, and the summary of the check run."""
    comment = memory_comment(review, settings)
    return {
        **review_to_json(review),
        "comment": comment.body if comment is not None and comment.news else None,
        "summary": summary(review, settings),
    }


def review_from_json(value: Json) -> Review:
    """The inverse of ``review_to_json``. Raises KeyError or ValueError where the form is not met."""
    return Review(
        base=value["base"],
        head=value["head"],
        merge_base=value["merge_base"],
        introduced=tuple(map(finding_from_json, value["introduced"])),
        fixed=tuple(map(finding_from_json, value["fixed"])),
        existing=tuple(map(finding_from_json, value["existing"])),
        unresolved=remarks_from_json(value["unresolved"]),
        not_analysed=remarks_from_json(value["not_analysed"]),
        estimates=tuple(map(_pair_from_json, value["estimates"])),
        files=value["files"],
        rules=value["rules"],
        unsure=value["unsure"],
        suppressed=counts_from_json("suppressed", value),
        problems=tuple(value["problems"]),
    )


def _pair_to_json(pair: EstimatePair) -> Json:
    return {
        "entry": pair.entry,
        "base": None if pair.base is None else estimate_document(pair.base),
        "head": None if pair.head is None else estimate_document(pair.head),
    }


def _pair_from_json(value: Json) -> EstimatePair:
    base, head = value["base"], value["head"]
    return EstimatePair(
        value["entry"],
        None if base is None else estimate_from_json(base),
        None if head is None else estimate_from_json(head),
    )
