"""``python -m corpus``: repeat the analysis of the corpus, compare it with the labels, take in readings, write the page."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from corpus.blind import blind, merge
from corpus.comparing import compare, recorded
from corpus.failure import CorpusError
from corpus.known import judged, read_known, write_known
from corpus.labels import Labelled, read_sheet, write_sheet
from corpus.manifest import HERE, Repository, read_manifest
from corpus.observing import Observation, observe
from corpus.page import page
from corpus.telling import known_lines, repository_lines, rule_lines

PAGE = HERE.parent / "docs" / "corpus.md"


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; 0 all is as recorded, 1 something is new or gone, 2 the corpus or a repository cannot be read."""
    options = _parser().parse_args(words)
    try:
        return int(options.command(options))
    except CorpusError as error:
        print(f"corpus: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    changed = False
    observations: list[Observation] = []
    findings: list[Labelled] = []
    for repository in _chosen(options):
        observation, sheet = observe(options.root, repository), read_sheet(repository, options.corpus)
        print(*repository_lines(observation, sheet), sep="\n", flush=True)
        comparison = compare(observation, sheet)
        changed = changed or bool(comparison.new or comparison.gone or observation.problems)
        if options.record:
            sheet = recorded(observation, sheet)
            write_sheet(sheet, repository, options.corpus)
        findings += [label for _, label in comparison.known]
        observations.append(observation.without_source())
    known = judged(read_known(options.corpus), observations)
    if options.record and known:
        write_known(known, options.corpus)
    print(*rule_lines(findings), *known_lines(known), sep="\n")
    lines, alarms = sum(each.lines for each in observations), sum(len(each.alarms) for each in observations)
    print(f"{alarms} errors and warnings in {lines} interpreted lines" + (f": one in {lines // alarms}" if alarms else ""))
    return 1 if changed and not options.record else 0


def _blind(options: argparse.Namespace) -> int:
    entries = [entry for repository in _chosen(options) for entry in blind(observe(options.root, repository))]
    print(json.dumps(entries, indent=1, ensure_ascii=False))
    return 0


def _label(options: argparse.Namespace) -> int:
    count = merge(options.file, read_manifest(options.corpus), options.corpus, first=options.reader == "first")
    print(f"{count} readings taken in from {options.file}")
    return 0


def _page(options: argparse.Namespace) -> int:
    repositories = read_manifest(options.corpus)
    written = page([(repository, read_sheet(repository, options.corpus)) for repository in repositories], read_known(options.corpus))
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(written, encoding="utf-8")
    return 0


def _chosen(options: argparse.Namespace) -> tuple[Repository, ...]:
    repositories = read_manifest(options.corpus)
    unknown = set(options.only) - {repository.name for repository in repositories}
    if unknown:
        raise CorpusError(f"{', '.join(sorted(unknown))} is not in the manifest; it lists {', '.join(repository.name for repository in repositories)}")
    return tuple(repository for repository in repositories if not options.only or repository.name in options.only)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m corpus", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=HERE, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(required=True)
    for name, command, says in (("run", _run, "analyse and compare"), ("blind", _blind, "list the findings for another reader, without labels")):
        added = commands.add_parser(name, help=says)
        added.add_argument("--root", type=Path, required=True, metavar="DIR", help="holds the git directories, each below owner+name")
        added.add_argument("--only", action="append", default=[], metavar="OWNER/NAME", help="only this repository (repeatable)")
        added.set_defaults(command=command)
        if name == "run":
            added.add_argument("--record", action="store_true", help="write what is found into the label files; labels of what is gone are dropped")
    added = commands.add_parser("label", help="take in the readings of a file that blind wrote and a reader filled in")
    added.add_argument("file", type=Path, metavar="FILE")
    added.add_argument("--reader", choices=("first", "second"), default="second")
    added.set_defaults(command=_label)
    added = commands.add_parser("page", help="write the public page")
    added.add_argument("--page", type=Path, default=PAGE, metavar="FILE")
    added.set_defaults(command=_page)
    return parser


if __name__ == "__main__":
    sys.exit(main())
