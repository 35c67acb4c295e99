"""A fingerprint outlives moved lines and formatting, and tells repeated statements apart."""

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fingerprint import fingerprinted
from analysis.modules import Modules
from analysis.snapshot import Snapshot
from analysis.source import Span


def fingerprints(code: str, needle: str = "f(x)", path: str = "train.py") -> list[Finding]:
    raw = code.encode()
    findings, at = [], raw.find(needle.encode())
    while at >= 0:
        span = Span(path, at, at + len(needle))
        findings.append(Finding("rule", Severity.ERROR, Confidence.HIGH, span, "it does", (Evidence(span, "here"),)))
        at = raw.find(needle.encode(), at + 1)
    snapshot = Snapshot.of({path: raw})
    return list(fingerprinted(findings, snapshot, Modules(snapshot)))


def test_moved_and_reformatted_code_keeps_it():
    (before,) = fingerprints("def g(x):\n    return  [f(x), 1]\n")
    (after,) = fingerprints("import os\n\n\ndef g(x):\n    # now with a comment\n    return [\n        f(x),\n        1,\n    ]\n")
    assert before.fingerprint == after.fingerprint
    assert before.function == "g"


def test_the_same_statement_twice_has_two():
    first, second = fingerprints("f(x)\nf(x)\n")
    assert first.fingerprint != second.fingerprint
    assert first.fingerprint == fingerprints("f(x)\n")[0].fingerprint


def test_function_class_and_file_count():
    code = "class A:\n    def m(self, x):\n        f(x)\n"
    (inside,) = fingerprints(code)
    assert inside.function == "A.m"
    assert len({inside.fingerprint, fingerprints("f(x)\n")[0].fingerprint, fingerprints(code, path="other.py")[0].fingerprint}) == 3


def test_only_the_head_of_a_compound_statement_counts():
    (before,) = fingerprints("for x in f(x):\n    a()\n")
    (after,) = fingerprints("for x in f(x):\n    b()\n")
    assert before.fingerprint == after.fingerprint
