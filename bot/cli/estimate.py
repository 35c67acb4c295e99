"""Peak GPU memory of a training script, or of a published model by name.

The script is read with the project around it; nothing of it is imported or run. What the source does not
tell is assumed in the open, or named as missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from analysis.settings import EntrySettings
from analysis.settings_file import settings_of
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed
from bot.cli.folder import Folder, read_folder
from bot.cli.outcome import Exit, UsageError
from bot.cli.parser import Parser
from bot.cli.shown_estimate import renamed
from bot.cli.terminal import progress
from bot.estimate_options import add_options, request_of
from bot.sources.release import LocalShelf
from estimator.estimate import Estimate, Verdict
from estimator.report import as_markdown, as_text, document
from estimator.run import estimate


def run(words: Sequence[str]) -> int:
    """Run ``preflight estimate`` and return its exit status."""
    options = _parser().parse_args(words)
    if (options.script is None) == (options.model is None):
        raise UsageError("name a script or --model NAME, one of the two")
    if options.model is not None:
        request = request_of(options, EntrySettings(), model_name=options.model)
        estimates = estimate(Snapshot.of({}), request)
    else:
        with progress("reading files"):
            folder = read_folder([options.script])
        entry = _entry(options.script, folder)
        request = request_of(options, settings_of(folder.snapshot.contents).of_entry(entry), entry=entry, shelf=LocalShelf())
        with progress(f"estimating {options.script}"):
            estimates = tuple(renamed(each, _shown(folder)) for each in estimate(folder.snapshot, request))
    print(_rendered(estimates, options.format), end="")
    return Exit.FOUND if _fits_none(estimates) else Exit.OK


def _entry(script: Path, folder: Folder) -> str:
    """The script's path in the snapshot. Raises UsageError where it cannot be read."""
    for each in folder.not_analysed:
        raise UsageError(f"{script}: {each.reason}")
    if len(folder.requested) != 1 or script.is_dir():
        raise UsageError(f"{script} is a folder; name the script in it that trains")
    entry = next(iter(folder.requested))
    source = folder.snapshot.source(entry)
    if isinstance(source, NotAnalysed):
        raise UsageError(f"{script}:{source.line}: {source.reason}")
    return entry


def _shown(folder: Folder) -> Callable[[str], str]:
    """Paths of the project from the working directory; those of a library's source stay as they are."""
    return lambda path: folder.shown(path) if path in folder.snapshot.paths else path


def _rendered(estimates: tuple[Estimate, ...], form: str) -> str:
    match form:
        case "json":
            return json.dumps(document(estimates), indent=2) + "\n"
        case "markdown":
            return as_markdown(estimates)
        case _:
            return as_text(estimates) + "\n"


def _fits_none(estimates: tuple[Estimate, ...]) -> bool:
    """Whether no card that was named holds any configuration, even at the optimistic end."""
    fits = [fit for each in estimates for fit in each.fits]
    return bool(fits) and all(fit.verdict is Verdict.DOES_NOT_FIT for fit in fits)


def _parser() -> Parser:
    parser = Parser("estimate", __doc__)
    parser.add_argument("script", metavar="SCRIPT", nargs="?", type=Path, help="the file that trains")
    parser.add_argument("--model", metavar="NAME", help="a published model (preflight models lists them)")
    add_options(parser)
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text", help="default: text")
    return parser
