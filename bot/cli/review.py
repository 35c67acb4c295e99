"""What the bot would post on a pull request, from a local git repository; nothing is sent.

Findings and memory are compared with the merge base of --base and --head; the configuration is that of --base.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.settings import FailOn
from analysis.settings_file import settings_of
from bot.beside import may_fork
from bot.cli.configuration import require_valid
from bot.cli.git import GitRepository
from bot.cli.notes import note_unread
from bot.cli.outcome import Exit
from bot.cli.parser import Parser
from bot.cli.review_markdown import as_markdown
from bot.cli.review_text import as_text
from bot.cli.terminal import Paint, progress
from bot.review.check_run import summary
from bot.review.comment import memory_comment
from bot.review.compute import review
from bot.review.located import Remark
from bot.review.result import Review
from bot.review.review_json import rendered_json
from bot.sources.release import LocalShelf


def run(words: Sequence[str]) -> int:
    """Run ``preflight review`` and return its exit status."""
    options = _parser().parse_args(words)
    git = GitRepository(options.repo)
    with progress("reading commits"):
        base, head = git.commit(options.base), git.commit(options.head)
        before, after = git.snapshot(git.merge_base(base, head)), git.snapshot(head)
        settings = settings_of(git.snapshot(base).contents)
    require_valid(settings)
    with progress("analysing both sides"):
        reviewed = _with_missing(review(before, after, settings, base, apart=may_fork(), shelf=LocalShelf()), git.missing(head))
    comment = memory_comment(reviewed, settings)
    posted = comment.body if comment is not None and comment.news else None
    match options.format:
        case "json":
            print(json.dumps(rendered_json(reviewed, settings), indent=2))
        case "markdown":
            print(as_markdown(reviewed, summary(reviewed, settings), posted, git, after), end="")
        case _:
            print(as_text(reviewed, after, Paint.of(sys.stdout)), end="")
    note_unread(reviewed.not_analysed)
    for problem in reviewed.problems:
        print(problem, file=sys.stderr)
    fail_on = FailOn(options.fail_on) if options.fail_on else settings.fail_on or FailOn.ERROR
    return Exit.FOUND if any(fail_on.fails(finding.severity) for finding in reviewed.introduced) else Exit.OK


def _with_missing(reviewed: Review, missing: Iterable[str]) -> Review:
    """The review with the files of the head that a partial clone does not hold named among those that were not read."""
    unread = {Remark(path, 1, "its content is not in this partial clone: fetch the whole commit") for path in missing}
    return replace(reviewed, not_analysed=tuple(sorted({*reviewed.not_analysed, *unread})))


def _parser() -> Parser:
    parser = Parser("review", __doc__)
    parser.add_argument("--base", metavar="REV", required=True, help="the branch or commit that the change is to go into")
    parser.add_argument("--head", metavar="REV", default="HEAD", help="the change (default: HEAD)")
    parser.add_argument("--repo", metavar="DIR", type=Path, default=Path(), help="the repository, bare or not (default: the working directory)")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="default: text")
    parser.add_argument("--fail-on", choices=[each.value for each in FailOn], help="lowest severity of an introduced finding that makes the exit status 1")
    return parser
