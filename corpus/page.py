"""The public page: what was found in which repository, what it was, and how the rules fare. Written from the labels alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus.comparing import tally
from corpus.known import CHECKER, Known
from corpus.labels import Label, Labelled, Sheet
from corpus.manifest import Repository

_INTRODUCTION = """# The precision corpus

What Preflight says about public repositories at fixed commits, and what each error and warning was when somebody read it beside the source.
Nothing is sampled: every error and warning that `preflight check` shows there is listed. The readers work without each other's label; where they
differ both are shown and the finding counts as wrong.

| label | means |
|---|---|
| defect | the code does what the finding says, and should not |
| intended | it does, and is meant to: a demonstration, a benchmark, a deliberate trade |
| limitation | wrong, for a reason that the source alone does not tell |
| false | wrong, and the analysis could have known |
| unresolved | the reader could not tell; it counts for nothing |

Precision is defects among all that could be judged. The page is written by `python -m corpus page` and the findings are found again by
`python -m corpus run --root DIR`, where DIR holds clones.
"""


def page(sheets: Sequence[tuple[Repository, Sheet]], known: Sequence[Known]) -> str:
    """The page as Markdown."""
    findings = [each for _, sheet in sheets for each in sheet.findings]
    parts = [
        _INTRODUCTION,
        "\n".join(_summary(sheets, findings)),
        "\n".join(_repositories(sheets)),
        "\n".join(_rules(findings)),
        "\n".join(_disputes(sheets)),
        "\n".join(_known(known, {repository.name: repository for repository, _ in sheets})),
        "\n".join(_findings(sheets)),
    ]
    return "\n".join(part + "\n" for part in parts if part)


def _summary(sheets: Sequence[tuple[Repository, Sheet]], findings: Sequence[Labelled]) -> Iterator[str]:
    lines = sum(sheet.lines for _, sheet in sheets)
    yield "## In short\n"
    for severity in ("error", "warning"):
        yield f"- {severity}s that are right: {tally(each for each in findings if each.severity == severity).precision}"
    if findings:
        yield f"- one error or warning in {lines // len(findings):,} interpreted lines ({len(findings)} in {lines:,} lines of {len(sheets)} repositories)"


def _repositories(sheets: Sequence[tuple[Repository, Sheet]]) -> Iterator[str]:
    yield "## Repositories\n"
    yield "| repository | written with | files | lines | errors | warnings | right | why it is here |"
    yield "|---|---|--:|--:|--:|--:|---|---|"
    for repository, sheet in sheets:
        errors = sum(each.severity == "error" for each in sheet.findings)
        name = f"[{repository.name}](https://github.com/{repository.name}/tree/{repository.commit})"
        counts = f"{sheet.files} | {sheet.lines:,} | {errors} | {len(sheet.findings) - errors}"
        right = tally(sheet.findings).precision if sheet.findings else "–"
        yield f"| {name} | {repository.kind} | {counts} | {right} | {repository.why} |"


def _rules(findings: Sequence[Labelled]) -> Iterator[str]:
    columns = tuple(Label)
    yield "## Rules\n"
    yield f"| rule | found | {' | '.join(label.value for label in columns)} | not read | disputed | right |"
    yield f"|---|--:|{'--:|' * len(columns)}--:|--:|---|"
    for rule in sorted({each.rule for each in findings}):
        counted = tally(each for each in findings if each.rule == rule)
        cells = " | ".join(str(counted.labels[label] or "") for label in columns)
        yield f"| {rule} | {counted.found} | {cells} | {counted.unread or ''} | {counted.disputed or ''} | {counted.precision} |"


def _disputes(sheets: Sequence[tuple[Repository, Sheet]]) -> Iterator[str]:
    disputed = [(repository, each) for repository, sheet in sheets for each in sheet.findings if each.disputed]
    if not disputed:
        return
    yield "## Where the readers differ\n"
    for repository, each in disputed:
        yield f"- {_place(repository, each.path, each.line)} {each.rule}"
        yield from (f"  - {reading.label.value}: {reading.why}" for reading in (each.first, each.second) if reading is not None)


def _known(known: Sequence[Known], repositories: dict[str, Repository]) -> Iterator[str]:
    if not known:
        return
    yield f"## Findings of {CHECKER}, read by a person\n"
    for label, words in ((Label.DEFECT, "its defects that Preflight reports"), (Label.FALSE, "its false alarms that Preflight does not raise")):
        of_label = [each for each in known if each.label is label]
        yield f"- {words}: {sum(each.met for each in of_label)} of {len(of_label)}"
    errors = [each for each in known if each.label is Label.INTENDED and not each.met]
    yield f"- intended ones that Preflight calls an error: {len(errors)}"
    for each in known:
        if not each.met:
            yield f"- {each.label.value}, {each.rule}, {_place(repositories[each.repository], each.path, each.line)}: {each.argued or each.why}"


def _findings(sheets: Sequence[tuple[Repository, Sheet]]) -> Iterator[str]:
    yield "## Every finding"
    for repository, sheet in sheets:
        if sheet.findings:
            yield f"\n### {repository.name}\n"
        for each in sheet.findings:
            reading = each.first or each.second
            said = "not read" if reading is None else f"{'disputed' if each.disputed else reading.label.value}: {reading.why}"
            yield f"- {each.severity} {each.rule} {_place(repository, each.path, each.line)} – {said}"


def _place(repository: Repository, path: str, line: int) -> str:
    return f"[{repository.name} {path}:{line}]({repository.link(path, line)})"
