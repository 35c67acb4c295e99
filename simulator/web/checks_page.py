"""The checks tab: every run with its summary, its text, its annotations and its buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from simulator.web.diffs import suggestion_table
from simulator.web.frame import page, pull_head, pull_path, repository_bar, when
from simulator.web.markdown import render
from simulator.web.markup import Html, element, fragment

if TYPE_CHECKING:
    from simulator.checkruns import Annotation, CheckRun
    from simulator.pull_request import PullRequest

# From the worst to the best, with the sign that stands for it.
MARKS = {
    "failure": "✕",
    "timed_out": "✕",
    "action_required": "!",
    "cancelled": "⊘",
    "in_progress": "●",
    "queued": "●",
    "neutral": "■",
    "skipped": "⊘",
    "success": "✓",
}
_LEVELS = {"failure": "Error", "warning": "Warning", "notice": "Notice"}


def outcome(run: CheckRun) -> str:
    """The conclusion of a run, or its status while it has none."""
    return run.conclusion or run.status


def mark(run: CheckRun) -> Html:
    """The coloured sign of a run."""
    return element(f"span.mark.{outcome(run)}", MARKS[outcome(run)], title=outcome(run))


def checks_page(pull: PullRequest) -> Html:
    """The page."""
    runs = pull.repository.check_runs(pull.head_sha)
    listed = [element("a.run-link", mark(run), run.name, href=f"#run-{run.id}") for run in runs]
    content = [_run(pull, run) for run in runs] or element("p.muted", "No checks have reported on this commit.")
    body = element("div.checks", element("nav.runs", element("div.app", "Preflight"), listed), element("div.run-list", content))
    return page(f"Checks · {pull.title} · #{pull.number}", repository_bar(pull.repository), element("main", pull_head(pull, "Checks"), body))


def _run(pull: PullRequest, run: CheckRun) -> Html:
    finished = None if run.completed_at is None else fragment("completed ", when(run.completed_at))
    rerun = element("form", element("button.small", "Re-run", type="submit"), method="post", action=f"{pull_path(pull)}/runs/{run.id}/rerequest")
    buttons = [
        element(
            "form",
            element("button.small", action.label, type="submit", name="identifier", value=action.identifier, title=action.description),
            method="post",
            action=f"{pull_path(pull)}/runs/{run.id}/action",
        )
        for action in run.actions
        if run.status == "completed"
    ]
    head = element(
        "div.run-head",
        element("div", element("h2", mark(run), run.name), element("div.muted", finished, " for ", element("code", run.head_sha[:7]))),
        element("div.buttons", buttons, rerun),
    )
    parts = [element("div.markdown", render(text)) for text in (run.summary, run.text) if text]
    title = element("h3", run.title) if run.title else element("p.muted", f"{outcome(run).replace('_', ' ').capitalize()} …")
    return element("section.run", head, element("div.run-body", title, parts, _annotations(pull, run)), id=f"run-{run.id}")


def _annotations(pull: PullRequest, run: CheckRun) -> Html | None:
    if not run.annotations:
        return None
    counts = [
        f"{number} {_LEVELS.get(level, level).lower()}{'' if number == 1 else 's'}"
        for level in _LEVELS
        if (number := sum(one.level == level for one in run.annotations))
    ]
    head = element("h3.annotations-head", "Annotations ", element("span.muted", ", ".join(counts)))
    return element("div.annotations", head, [_annotation(pull, run, one) for one in run.annotations])


def _annotation(pull: PullRequest, run: CheckRun, annotation: Annotation) -> Html:
    lines = f"L{annotation.start_line}" if annotation.start_line == annotation.end_line else f"L{annotation.start_line}–{annotation.end_line}"
    address = f"/{pull.repository.full_name}/blob/{run.head_sha}/{quote(annotation.path)}#L{annotation.start_line}"
    details = element("details", element("summary", "Show more details"), element("pre", annotation.raw_details)) if annotation.raw_details else None
    return element(
        f"div.annotation.{annotation.level}",
        element(
            "div.annotation-head",
            element("span.level", _LEVELS.get(annotation.level, annotation.level)),
            element("a", f"{annotation.path} {lines}", href=address),
        ),
        element(
            "div.annotation-body",
            element("strong", annotation.title) if annotation.title else None,
            element("p", annotation.message),
            _source(pull, run, annotation),
            details,
        ),
    )


def _source(pull: PullRequest, run: CheckRun, annotation: Annotation) -> Html | None:
    found = pull.repository.git.read(run.head_sha, annotation.path)
    if found is None:
        return None
    lines = found.content.decode(errors="replace").split("\n")[annotation.start_line - 1 : annotation.end_line]
    return suggestion_table(annotation.path, lines, lines, annotation.start_line)
