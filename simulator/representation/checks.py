"""Check suites, check runs and their annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.clock import iso
from simulator.ids import node_id
from simulator.representation.accounts import Json, app_json
from simulator.representation.pulls import pull_reference_json
from simulator.representation.repositories import api_url, repository_json, simple_commit_json, web_url

if TYPE_CHECKING:
    from simulator.checkruns import Annotation, CheckRun, CheckSuite
    from simulator.repository import Repository


def pull_references(repository: Repository, sha: str) -> list[Json]:
    """The open pull requests whose head is that commit; those from forks are not listed, as on GitHub."""
    return [
        pull_reference_json(pull) for pull in repository.pulls.values() if pull.head_sha == sha and pull.state == "open" and pull.head_repository is repository
    ]


def check_run_json(repository: Repository, run: CheckRun) -> Json:
    """A check run; its annotations are only counted here."""
    platform = repository.platform
    url = f"{api_url(repository)}/check-runs/{run.id}"
    page = f"{web_url(repository)}/runs/{run.id}"
    return {
        "id": run.id,
        "node_id": node_id("CR", run.id),
        "name": run.name,
        "head_sha": run.head_sha,
        "external_id": run.external_id or "",
        "url": url,
        "html_url": page,
        "details_url": run.details_url or f"{platform.urls.web}/apps/{platform.app.slug}",
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": iso(run.started_at),
        "completed_at": None if run.completed_at is None else iso(run.completed_at),
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": run.text,
            "annotations_count": len(run.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": run.suite_id},
        "app": app_json(platform.app, platform.urls),
        "pull_requests": pull_references(repository, run.head_sha),
    }


def annotation_json(repository: Repository, run: CheckRun, annotation: Annotation) -> Json:
    """One annotation."""
    return {
        "path": annotation.path,
        "blob_href": f"{web_url(repository)}/blob/{run.head_sha}/{annotation.path}",
        "start_line": annotation.start_line,
        "end_line": annotation.end_line,
        "start_column": annotation.start_column,
        "end_column": annotation.end_column,
        "annotation_level": annotation.level,
        "title": annotation.title,
        "message": annotation.message,
        "raw_details": annotation.raw_details,
    }


def suite_state(repository: Repository, suite: CheckSuite) -> tuple[str, str | None, int]:
    """Status, conclusion and number of runs of a suite, from its runs."""
    runs = [run for run in repository.runs.values() if run.suite_id == suite.id]
    if suite.requeued or not runs:
        return "queued", None, len(runs)
    if any(run.status != "completed" for run in runs):
        return "in_progress", None, len(runs)
    worst = ("failure", "timed_out", "cancelled", "action_required", "neutral", "skipped", "success")
    conclusions = {run.conclusion for run in runs}
    return "completed", next((one for one in worst if one in conclusions), None), len(runs)


def check_suite_json(repository: Repository, suite: CheckSuite) -> Json:
    """A check suite."""
    platform = repository.platform
    url = f"{api_url(repository)}/check-suites/{suite.id}"
    status, conclusion, count = suite_state(repository, suite)
    return {
        "id": suite.id,
        "node_id": node_id("CS", suite.id),
        "head_branch": suite.head_branch,
        "head_sha": suite.head_sha,
        "status": status,
        "conclusion": conclusion,
        "url": url,
        "before": suite.before,
        "after": suite.head_sha,
        "pull_requests": pull_references(repository, suite.head_sha),
        "app": app_json(platform.app, platform.urls),
        "repository": repository_json(repository),
        "created_at": iso(suite.created_at),
        "updated_at": iso(suite.created_at),
        "latest_check_runs_count": count,
        "check_runs_url": f"{url}/check-runs",
        "rerequestable": True,
        "runs_rerequestable": True,
        "head_commit": simple_commit_json(repository.git.commit_of(suite.head_sha)),
    }
