"""A worker for tests of the server: lines that say what is to be found, so that every result is known beforehand.

``BUG`` in a line is a finding whose fix writes ``fixed`` instead; ``BATCH = n`` is a configuration that takes n GiB;
``SLEEP n`` takes n seconds; ``CRASH`` ends the process without an answer.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import time
from collections.abc import Iterator

from analysis.certainty import Known, Place
from analysis.finding import Confidence, Safety, Severity
from analysis.fixes.apply import unified_diff
from analysis.snapshot import Snapshot
from bot.review.located import LocatedEdit, LocatedFinding, LocatedFix, Remark
from bot.review.match import match
from bot.review.result import EstimatePair, Review
from bot.review.review_json import review_to_json
from bot.worker.wire import Task, unpack
from estimator.config import TrainingConfig
from estimator.estimate import Components, Estimate, Fit, Interval, Memory, Mode, Verdict
from estimator.report import estimate_document

GIB = 1 << 30
CARD = 15 * GIB


def main() -> int:
    task = unpack(sys.stdin.buffer)
    text = "\n".join(raw.decode() for _, raw in sorted(task.head.contents.items()))
    if slept := re.search(r"SLEEP (\d+)", text):
        time.sleep(int(slept[1]))
    if "CRASH" in text:
        return 7
    answers = {"estimate": estimated, "review": reviewed, "fix": fixed, "sarif": scanned, "remember": remembered}
    json.dump(answers[task.what](task), sys.stdout)
    return 0


def reviewed(task: Task) -> dict[str, object]:
    matched = match(findings(task.base), findings(task.head))
    base, head = estimate(task.base), estimate(task.head)
    pairs = (EstimatePair("train.py", base, head),) if base or head else ()
    review = Review(
        task.base_tip,
        task.head.commit,
        task.base.commit,
        matched.introduced,
        matched.fixed,
        matched.existing,
        estimates=pairs,
        files=len(task.head.contents),
        rules=1,
    )
    return {"review": review_to_json(review)}


def fixed(task: Task) -> dict[str, object]:
    changed = {path: raw.replace(b"BUG", b"fixed") for path, raw in task.head.contents.items() if b"BUG" in raw}
    return {
        "files": {path: base64.b64encode(raw).decode() for path, raw in changed.items()},
        "patch": unified_diff(task.head, changed),
        "rules": ["marked-line"],
        "fixes": sum(raw.count(b"BUG") for raw in task.head.contents.values()),
    }


def remembered(_task: Task) -> dict[str, object]:
    return {"kept": {}}


def scanned(task: Task) -> dict[str, object]:
    driver = {"name": "Preflight", "rules": []}
    results = [{"message": {"text": found.message}, "ruleId": found.rule} for found in findings(task.head)]
    return {"sarif": {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}}


def estimated(task: Task) -> dict[str, object]:
    if "--no-such-option" in task.arguments:
        return {"error": "unknown option --no-such-option"}
    found = estimate(task.head)
    return {"estimates": [] if found is None else [estimate_document(found)]}


def findings(snapshot: Snapshot) -> Iterator[LocatedFinding]:
    for path, raw in sorted(snapshot.contents.items()):
        for number, line in enumerate(raw.decode().split("\n"), start=1):
            column = line.find("BUG") + 1
            if not column:
                continue
            edit = LocatedEdit(path, number, column, number, column + 3, "fixed")
            yield LocatedFinding(
                rule="marked-line",
                severity=Severity.ERROR,
                confidence=Confidence.HIGH,
                path=path,
                line=number,
                column=column,
                end_line=number,
                end_column=column + 3,
                message=f"`{line.strip()}` is marked.",
                evidence=(Remark(path, number, "it says so"),),
                fix=LocatedFix("Write what is right", Safety.SAFE, (edit,)),
                no_fix_because=None,
                fingerprint=hashlib.sha256(f"{path}:{line}".encode()).hexdigest(),
            )


def estimate(snapshot: Snapshot) -> Estimate | None:
    found = re.search(rb"BATCH = (\d+)", snapshot.contents.get("train.py", b""))
    if found is None:
        return None
    batch = int(found[1])
    peak = batch * GIB
    memory = Memory(1, 1, Components(activations=peak), peak, Interval(peak, peak), peak, Interval(peak, peak), "backward")
    verdict = Verdict.FITS if peak <= CARD else Verdict.DOES_NOT_FIT
    config = TrainingConfig(batch_size=Known(batch, Place("train.py", 1)))
    return Estimate("train.py", Mode.TRAINING, config, memory, fits=(Fit("T4", CARD, verdict),))


if __name__ == "__main__":
    sys.exit(main())
