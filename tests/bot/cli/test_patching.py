"""Fixes on disk: only safe ones, whole files, and nothing that changed meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.finding import Fix, Safety
from analysis.report import Report
from analysis.snapshot import Snapshot
from bot.cli.folder import Folder, read_folder
from bot.cli.outcome import UsageError
from bot.cli.patching import diff, fix_and_write
from tests.bot.cli.findings import FILES, retained_graph, write

FIXED = FILES["loop.py"].replace(b"append(loss)", b"append(loss.detach())")


def _report(snapshot: Snapshot) -> Report:
    silent = b"detach" in snapshot.contents["loop.py"]
    return Report() if silent else Report(findings=(retained_graph(snapshot),))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return read_folder([write(tmp_path)])


def test_the_file_is_rewritten_and_the_finding_gone(folder: Folder) -> None:
    (folder.root / "loop.py").chmod(0o751)

    after, report = fix_and_write(_report(folder.snapshot), folder, _report)

    assert (folder.root / "loop.py").read_bytes() == FIXED == after.snapshot.contents["loop.py"]
    assert (folder.root / "loop.py").stat().st_mode & 0o777 == 0o751
    assert report.findings == ()
    assert sorted(path.name for path in folder.root.iterdir()) == ["loop.py", "model.py"]


def test_a_fix_that_needs_a_person_is_not_applied(folder: Folder) -> None:
    finding = retained_graph(folder.snapshot)
    assert finding.fix is not None
    asks = Report(findings=(retained_graph(folder.snapshot, fix=Fix("is this meant?", Safety.REVIEW, finding.fix.edits)),))

    _, report = fix_and_write(asks, folder, _report)

    assert report == asks
    assert (folder.root / "loop.py").read_bytes() == FILES["loop.py"]
    assert diff(asks, folder) == ""


def test_a_file_that_changed_meanwhile_is_left_alone(folder: Folder) -> None:
    (folder.root / "loop.py").write_bytes(b"mine = 1\n")

    with pytest.raises(UsageError, match="was changed while it was analysed"):
        fix_and_write(_report(folder.snapshot), folder, _report)

    assert (folder.root / "loop.py").read_bytes() == b"mine = 1\n"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "real/loop.py": FILES["loop.py"]})
    (tmp_path / "loop.py").unlink()
    (tmp_path / "loop.py").symlink_to("real/loop.py")
    folder = read_folder([tmp_path])

    fix_and_write(_report(folder.snapshot), folder, _report)

    assert (tmp_path / "loop.py").is_symlink()
    assert (tmp_path / "real" / "loop.py").read_bytes() == FIXED


def test_a_byte_order_mark_and_line_ends_survive(tmp_path: Path) -> None:
    crlf = FILES["loop.py"].replace(b"\n", b"\r\n")
    folder = read_folder([write(tmp_path, {**FILES, "loop.py": b"\xef\xbb\xbf" + crlf})])

    fix_and_write(_report(folder.snapshot), folder, _report)

    assert (tmp_path / "loop.py").read_bytes() == b"\xef\xbb\xbf" + FIXED.replace(b"\n", b"\r\n")


def test_a_file_in_another_encoding_is_not_written(tmp_path: Path) -> None:
    latin = "# coding: latin-1\n# é\n".encode("latin-1") + FILES["loop.py"]
    folder = read_folder([write(tmp_path, {**FILES, "loop.py": latin})])

    _, report = fix_and_write(_report(folder.snapshot), folder, _report)

    assert len(report.findings) == 1
    assert (tmp_path / "loop.py").read_bytes() == latin


def test_the_difference_applies(folder: Folder) -> None:
    patch = diff(_report(folder.snapshot), folder)

    assert patch.startswith("--- a/loop.py\n+++ b/loop.py\n")
    assert "-\tlosses.append(loss)\n+\tlosses.append(loss.detach())\n" in patch
    assert (folder.root / "loop.py").read_bytes() == FILES["loop.py"]
