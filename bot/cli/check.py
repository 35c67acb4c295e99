"""Findings in files and folders.

The project around the paths is read, so that values are followed across files; findings are reported
in the paths themselves. Nothing of it is imported or run. --fix writes the patches that cannot break
code that runs; --diff shows them instead. --write-baseline FILE keeps what is found now, so that with
--baseline FILE only what is new is shown.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from analysis.answers import Memory
from analysis.baseline import Baseline
from analysis.engine import analyse
from analysis.finding import Confidence
from analysis.nearby import around
from analysis.report import Report
from analysis.rule import Rule, discover
from analysis.selection import configured, require_known, select
from analysis.settings import FailOn, Settings
from analysis.settings_file import settings_of
from analysis.snapshot import Snapshot
from bot.cli.baseline_file import note_gone, read_baseline, write_baseline
from bot.cli.check_formats import FORMATS, Checked
from bot.cli.configuration import require_valid
from bot.cli.folder import Folder, read_folder
from bot.cli.kept_reports import load, name_of, save
from bot.cli.notes import note_not_analysed, note_reading
from bot.cli.outcome import Exit
from bot.cli.parser import Parser
from bot.cli.patching import diff, fix_and_write
from bot.cli.terminal import Paint, progress
from bot.rules import every_rule
from estimator.findings import memory_rules


def run(words: Sequence[str]) -> int:
    """Run ``preflight check`` and return its exit status."""
    options = _parser().parse_args(words)
    paint = Paint.of(sys.stdout)
    baseline = read_baseline(options.baseline) if options.baseline else Baseline()
    with progress("reading files"):
        folder = read_folder(options.paths or [Path()])
        settings = settings_of(folder.snapshot.contents)
    rules = _rules(options, settings)
    asked = partial(_analyse, folder, rules=rules, settings=settings, kept=not options.no_cache)
    note_reading(folder)
    with progress(f"analysing {len(folder.requested)} files with {len(rules)} rules"):
        report = baseline.hide(asked(folder.snapshot))
    found = Counter(finding.rule for finding in report.findings)
    if options.diff:
        print(diff(report, folder), end="")
    elif options.fix:
        folder, report = fix_and_write(report, folder, lambda snapshot: baseline.hide(asked(snapshot)))
    fixed = found - Counter(finding.rule for finding in report.findings)
    note_gone(baseline, report, folder)
    if options.write_baseline:
        report = write_baseline(options.write_baseline, report).hide(report)
    note_not_analysed(report, folder)
    checked = Checked(report, folder, rules, Confidence[options.confidence.upper()], fixed)
    if not options.diff:
        print(FORMATS[options.format](checked, paint), end="")
    fail_on = FailOn(options.fail_on) if options.fail_on else settings.fail_on or FailOn.ERROR
    return Exit.FOUND if any(fail_on.fails(finding.severity) for finding in checked.findings) else Exit.OK


def _analyse(folder: Folder, snapshot: Snapshot, rules: tuple[Rule, ...], settings: Settings, *, kept: bool) -> Report:
    report = configured(_kept_or_made(snapshot, rules, folder.requested & snapshot.contents.keys(), kept=kept), settings)
    unread = {each.path for each in folder.not_analysed}
    not_analysed = (*folder.not_analysed, *(each for each in report.not_analysed if each.path not in unread))
    return replace(report, not_analysed=tuple(sorted(not_analysed, key=lambda each: (each.path, each.line))))


def _kept_or_made(snapshot: Snapshot, rules: tuple[Rule, ...], paths: Collection[str], *, kept: bool) -> Report:
    """``kept``: the report of an earlier run will do, and this one is to be kept."""
    elsewhere = {rule.name for rule in memory_rules()}
    name = name_of(snapshot, rules, paths, elsewhere) if kept else ""
    known = load(name) if kept else None
    if known is not None:
        return known
    memory = Memory()
    made = analyse(around(snapshot, paths, memory.facts), rules, paths, elsewhere=elsewhere, memory=memory)
    if kept:
        save(name, made)
    return made


def _rules(options: argparse.Namespace, settings: Settings) -> tuple[Rule, ...]:
    rules = every_rule()
    require_valid(settings)
    chosen, ignored = _names(options.select), _names(options.ignore)
    require_known(chosen, rules, "--select")
    require_known(ignored, rules, "--ignore")
    return select(discover(), chosen or settings.select, {*ignored, *settings.ignore})


def _names(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def _parser() -> Parser:
    parser = Parser("check", __doc__)
    parser.add_argument("paths", metavar="PATH", nargs="*", type=Path, help="files and folders (default: the working directory)")
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help="default: text")
    parser.add_argument("--select", metavar="RULE", action="append", default=[], help="run only these rules (repeatable, comma-separated)")
    parser.add_argument("--ignore", metavar="RULE", action="append", default=[], help="leave these rules out (repeatable, comma-separated)")
    patch = parser.add_mutually_exclusive_group()
    patch.add_argument("--fix", action="store_true", help="write the safe fixes into the files")
    patch.add_argument("--diff", action="store_true", help="print the safe fixes as a patch, write nothing")
    hidden = parser.add_mutually_exclusive_group()
    hidden.add_argument("--baseline", metavar="FILE", type=Path, help="hide, and count, the findings that FILE holds")
    hidden.add_argument("--write-baseline", metavar="FILE", type=Path, help="write all findings to FILE, for --baseline")
    parser.add_argument("--no-cache", action="store_true", help="analyse even what has not changed since the last run, and keep nothing")
    parser.add_argument("--fail-on", choices=[each.value for each in FailOn], help="lowest severity that makes the exit status 1 (default: error)")
    parser.add_argument(
        "--confidence", choices=[each.label for each in reversed(Confidence)], default="medium", help="lowest confidence shown (default: medium)"
    )
    return parser
