"""What a check run of ours is about, read from its external id: GitHub's own list of pull requests is empty for forks."""

from __future__ import annotations

from bot.events.jobs import merge_job, review_job
from bot.job import Job, Json

MERGE = "merge"


def job_behind(external_id: str, delivery: str, facts: Json) -> Job | None:
    """The job that looks again at what the check run ``external_id`` is about; None where the run is none of ours."""
    about, _, rest = external_id.partition("/")
    head, _, more = rest.partition("/")
    if about == MERGE:
        return merge_job(delivery, facts, head, more.partition("/")[0], again=True)
    if not about.isascii() or not about.isdigit():
        return None
    return review_job(delivery, facts, int(about), head, again=True, asked=True)
