"""Whether fixes do what they say: programs with a mistake, before and after their fix, run under PyTorch on the CPU.

    python -m benchmarks fixes [--torch PYTHON] [RULE …]

PYTHON is an interpreter that has torch (default: this one). Each program stands in ``benchmarks/fixed/guest`` under the name of its rule; its
second line says what the fix promises about what the program ``measured`` before and after. Fixes to review are applied too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from analysis.engine import analyse
from analysis.finding import Safety
from analysis.fixes.apply import fixed
from analysis.rule import discover
from analysis.snapshot import Snapshot

HERE = Path(__file__).parent / "fixed"


@dataclass(frozen=True, slots=True)
class Program:
    """One program, its fixed version, what the fix is and what it promises."""

    rule: str
    before: str
    after: str
    safety: Safety

    @property
    def says(self) -> str:
        """The promise in words."""
        return self.before.splitlines()[0].removeprefix("# says: ")

    @property
    def promise(self) -> str:
        """The promise as an expression."""
        return self.before.splitlines()[1].removeprefix("# promise: ")


def main(words: argparse.Namespace) -> int:
    """Fix, run and compare. Returns 1 if a promise is broken."""
    paths = sorted(path for path in (HERE / "guest").glob("*.py") if not words.rules or path.stem.replace("_", "-") in words.rules)
    programs = [_fixed(path) for path in paths]
    sources = {f"{each.rule} {when}": text for each in programs for when, text in _versions(each)}
    done = subprocess.run([words.torch, HERE / "play.py"], input=json.dumps(sources), capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return 2
    answers = json.loads(done.stdout)
    kept = [_report(each, {when: answers[f"{each.rule} {when}"] for when, _ in _versions(each)}) for each in programs]
    print(f"\n{sum(kept)} of {len(kept)} fixes do what they say")
    return 0 if all(kept) else 1


def _fixed(path: Path) -> Program:
    rule = path.stem.replace("_", "-")
    snapshot = Snapshot.of({path.name: path.read_bytes()})
    found = [each for each in analyse(snapshot, discover()).findings if each.rule == rule]
    fixes = [each.fix for each in found if each.fix is not None]
    if not found or len(fixes) < len(found):
        raise SystemExit(f"{path}: {rule} finds {len(found)} mistakes and has {len(fixes)} fixes")
    after = fixed(snapshot, found, frozenset(Safety))[path.name]
    return Program(rule, path.read_text(), after.decode(), fixes[0].safety)


def _versions(program: Program) -> tuple[tuple[str, str], ...]:
    """Both versions, and each once more where the promise asks for a second run."""
    once = ("before", program.before), ("after", program.after)
    return (*once, ("again_before", program.before), ("again_after", program.after)) if "again_" in program.promise else once


def _report(program: Program, measured: dict[str, object]) -> bool:
    try:
        kept = bool(eval(program.promise, {"abs": abs}, measured))  # noqa: S307  # the promise is the benchmark's own
    except (TypeError, KeyError):  # the program raised, so that there is a sentence for what it measured
        kept = False
    print(f"{'kept  ' if kept else 'BROKEN'} {program.rule:28} {program.safety.value:6}  {program.says}")
    if not kept:
        print(f"       before {measured['before']}, after {measured['after']}")
    return kept


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", metavar="RULE", nargs="*", help="only these")
    parser.add_argument("--torch", metavar="PYTHON", default=sys.executable, help="an interpreter that has torch (default: this one)")
    sys.exit(main(parser.parse_args()))
