"""Edits are applied together only where they cannot meet; the diff is one that patch tools take."""

import subprocess

import pytest

from analysis.finding import Confidence, Edit, Evidence, Finding, Fix, Safety, Severity
from analysis.fixes.apply import EditsOverlapError, apply, compatible, edits_of, fixed, unified_diff
from analysis.snapshot import Snapshot
from analysis.source import Span


def edit(start: int, end: int, text: str, path: str = "a.py") -> Edit:
    return Edit(Span(path, start, end), text)


def fix(*edits: Edit, safety: Safety = Safety.SAFE) -> Fix:
    return Fix("fix", safety, edits)


def finding(with_fix: Fix | None) -> Finding:
    span = Span("a.py", 0, 1)
    return Finding("rule", Severity.ERROR, Confidence.HIGH, span, "message", (Evidence(span, "here"),), fix=with_fix)


def test_edits_of_several_files():
    snapshot = Snapshot.of({"a.py": b"\xef\xbb\xbfab\n", "b.py": b"cd\n", "c.py": b"e\n"})
    assert apply(snapshot, [edit(1, 2, "é"), edit(0, 0, "x"), edit(0, 1, "", "b.py")]) == {"a.py": "\ufeffxaé\n".encode(), "b.py": b"d\n"}


def test_insertions_in_one_place_keep_their_order():
    assert apply(Snapshot.of({"a.py": b"c\n"}), [edit(0, 0, "a\n"), edit(0, 0, "b\n")]) == {"a.py": b"a\nb\nc\n"}


def test_edits_of_one_byte_are_refused():
    with pytest.raises(EditsOverlapError, match=r"a\.py: two edits overlap"):
        apply(Snapshot.of({"a.py": b"abc\n"}), [edit(0, 2, "x"), edit(1, 3, "y")])


def test_a_file_that_was_not_read_is_refused():
    with pytest.raises(ValueError, match=r"b\.py: cannot be edited, its content was not read"):
        apply(Snapshot.of({}), [edit(0, 0, "x", "b.py")])


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (fix(edit(0, 1, "x")), fix(edit(2, 3, "y")), True),
        (fix(edit(0, 2, "x")), fix(edit(2, 3, "y")), True),
        (fix(edit(0, 2, "x")), fix(edit(1, 3, "y")), False),
        (fix(edit(1, 1, ".item()")), fix(edit(1, 1, ".detach()")), False),
        (fix(edit(1, 1, ".item()")), fix(edit(1, 1, ".item()")), False),
        (fix(edit(1, 1, "import a\n")), fix(edit(1, 1, "import a\n")), True),
        (fix(edit(1, 1, "import a\n")), fix(edit(1, 1, "import b\n")), False),
        (fix(edit(1, 1, "x")), fix(edit(1, 2, "y")), False),
        (fix(edit(0, 2, "x")), fix(edit(0, 2, "x", "b.py")), True),
    ],
)
def test_which_fixes_go_together(one, other, together):
    assert compatible([one, other]) == ((one, other) if together else (one,))


def test_a_shared_import_is_added_once():
    line = edit(0, 0, "import a\n")
    assert edits_of([fix(line, edit(3, 4, "x")), fix(line, edit(5, 6, "y"))]) == (line, edit(3, 4, "x"), edit(5, 6, "y"))


def test_only_safe_fixes_are_applied_unasked():
    snapshot = Snapshot.of({"a.py": b"a\n"})
    review = finding(fix(edit(0, 1, "b"), safety=Safety.REVIEW))
    assert fixed(snapshot, [review, finding(None)]) == {}
    assert fixed(snapshot, [review], frozenset(Safety)) == {"a.py": b"b\n"}
    assert fixed(snapshot, [finding(fix(edit(1, 1, "c"))), review]) == {"a.py": b"ac\n"}


def test_git_takes_the_diff(tmp_path):
    old = {"a.py": "x = 1\r\ny = 'é\x0c'\nz".encode(), "d/b.py": b"one\n\ntwo\n"}
    new = {"a.py": "x = 1\r\ny = 'è\x0c'\r\nz\n".encode(), "d/b.py": b"one\n"}
    for path, content in old.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    diff = unified_diff(Snapshot.of(old), new)
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=tmp_path, check=True)
    assert {path: (tmp_path / path).read_bytes() for path in old} == new
