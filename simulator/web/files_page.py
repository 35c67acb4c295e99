"""The files tab: the diff with the review threads and the annotations of the newest run on their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.reviewing import current_lines
from simulator.web.diffs import hunks_table
from simulator.web.frame import page, pull_head, repository_bar
from simulator.web.markup import Html, element, fragment
from simulator.web.threads import thread

if TYPE_CHECKING:
    from simulator.git.hunks import HunkLine
    from simulator.git.objects import FileChange
    from simulator.pull_request import PullRequest


def files_page(pull: PullRequest) -> Html:
    """The page."""
    files = [_file(pull, change) for change in pull.files()]
    return page(f"Files · {pull.title} · #{pull.number}", repository_bar(pull.repository), element("main", pull_head(pull, "Files changed"), files))


def blob_page(pull_title: str, path: str, text: str, bar: Html) -> Html:
    """One file of a commit with its line numbers."""
    rows = [
        element("tr", element("td.number", str(number), id=f"L{number}"), element("td.code", line))
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1)
    ]
    table = element("div.diff-scroll", element("table.diff.single", element("tbody", rows)))
    return page(pull_title, bar, element("main", element("section.file-diff", element("div.thread-head", element("span.file", path)), table)))


def _file(pull: PullRequest, change: FileChange) -> Html:
    moved = fragment(change.previous_path, " → ") if change.previous_path else None
    counts = fragment(element("span.plus", f"+{change.additions}"), " ", element("span.minus", f"−{change.deletions}"))
    head = element("div.thread-head", element("span.file", moved, change.path), element("span.right", counts))
    if change.patch is None:
        return element("section.file-diff", head, element("p.muted", "No text to show."))
    return element("section.file-diff", head, hunks_table(change.path, change.patch, lambda line: _below(pull, change.path, line)))


def _below(pull: PullRequest, path: str, line: HunkLine) -> Html | None:
    threads = [
        thread(pull, opener, with_lines=False)
        for opener in pull.review_comments
        if opener.in_reply_to is None
        and opener.anchor.path == path
        and (end := current_lines(pull, opener.anchor)[1]) is not None
        and line.number(opener.anchor.side) == end
    ]
    newest = pull.repository.check_runs(pull.head_sha)[-1:]
    notes = [
        element(f"div.annotation.{one.level}", element("div.annotation-body", element("strong", one.title or one.level), element("p", one.message)))
        for run in newest
        for one in run.annotations
        if one.path == path and line.right == one.end_line
    ]
    return fragment(notes, threads) if notes or threads else None
