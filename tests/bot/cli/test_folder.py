"""Reading a working tree: what is asked for, what is followed, and everything that is not a plain file."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partialmethod
from pathlib import Path

import pytest

from analysis.source import MAX_BYTES
from bot.cli.folder import Folder, read_folder
from bot.cli.outcome import UsageError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    for path in ("train.py", "model/net.py", "model/__init__.py", "build/lib/train.py", "node_modules/a.py", "conf/a.yaml"):
        _write(root / path)
    (root / ".git").mkdir()
    monkeypatch.chdir(root)
    return root


def _write(path: Path, content: bytes = b"x = 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _reasons(folder: Folder) -> dict[str, str]:
    return {each.path: each.reason for each in folder.not_analysed}


def test_a_folder_asks_for_all_its_python_files(project: Path) -> None:
    folder = read_folder([project])

    assert folder.requested == {"train.py", "model/net.py", "model/__init__.py"}
    assert folder.skipped == (".git/", "build/", "node_modules/")
    assert folder.snapshot.contents["conf/a.yaml"] == b"x = 1\n"


def test_a_file_is_read_with_the_project_around_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "model")

    folder = read_folder([Path("net.py")])

    assert folder.requested == {"model/net.py"}
    assert "train.py" in folder.snapshot.contents
    assert folder.shown("model/net.py") == "net.py"
    assert folder.shown("train.py") == "../train.py"


def test_a_skipped_folder_is_read_if_it_is_named(project: Path) -> None:
    folder = read_folder([project / "build"])

    assert folder.requested == {"build/lib/train.py"}
    assert folder.skipped == ()


def test_a_root_may_have_a_name_that_is_skipped_below(tmp_path: Path) -> None:
    _write(tmp_path / "env" / "a.py")

    assert read_folder([tmp_path / "env"]).requested == {"a.py"}


def test_an_environment_of_any_name_is_skipped(project: Path) -> None:
    _write(project / "py311" / "pyvenv.cfg")
    _write(project / "py311" / "lib" / "torch.py")

    assert "py311/" in read_folder([project]).skipped


def test_two_projects_are_read_together(tmp_path: Path) -> None:
    first, second = _write(tmp_path / "a" / "train.py"), _write(tmp_path / "b" / "train.py")

    assert read_folder([first, second]).requested == {"a/train.py", "b/train.py"}


def test_pipes_and_devices_are_named_and_not_opened(project: Path) -> None:
    os.mkfifo(project / "pipe.py")

    folder = read_folder([project])

    assert _reasons(folder) == {"pipe.py": "is not a regular file"}
    assert "train.py" in folder.snapshot.contents


def test_a_folder_may_be_called_like_a_file(project: Path) -> None:
    _write(project / "package.py" / "inner.py")

    assert "package.py/inner.py" in read_folder([project]).requested


def test_links_stay_inside_the_project(project: Path, tmp_path: Path) -> None:
    (project / "alias.py").symlink_to("train.py")
    (project / "outside.py").symlink_to(_write(tmp_path / "secret.py"))
    (project / "broken.py").symlink_to("nowhere.py")
    (project / "loop.py").symlink_to("loop.py")
    (project / "self").symlink_to(".")

    folder = read_folder([project])

    assert folder.snapshot.contents["alias.py"] == b"x = 1\n"
    assert set(_reasons(folder)) == {"outside.py", "broken.py", "loop.py"}
    assert _reasons(folder)["outside.py"] == "is a link out of the repository, which is not followed"
    assert not any(path.startswith("self/") for path in folder.snapshot.paths)


def test_no_more_of_a_large_file_is_read_than_is_needed_to_refuse_it(project: Path) -> None:
    _write(project / "large.py", b"#" * (MAX_BYTES + 1000))

    folder = read_folder([project])

    assert len(folder.snapshot.contents["large.py"]) == MAX_BYTES + 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(project: Path) -> None:
    (project / "train.py").chmod(0)

    assert _reasons(read_folder([project])) == {"train.py": "cannot be read: Permission denied"}


def test_a_name_need_not_be_utf8(project: Path) -> None:
    name = os.fsdecode(b"b\xffd.py")
    _write(project / name)

    assert name in read_folder([project]).requested


def test_another_kind_of_file_is_not_analysed(project: Path) -> None:
    folder = read_folder([project / "conf" / "a.yaml"])

    assert _reasons(folder) == {"conf/a.yaml": "is not a Python file or notebook"}
    assert folder.requested == frozenset()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nowhere.py", "nowhere.py does not exist"),
        ("trian.py", "trian.py does not exist; did you mean train.py?"),
        ("tn.py", "tn.py does not exist"),
        ("dangling.py", "dangling.py is a link to nothing, or to itself"),
    ],
)
def test_a_path_that_is_not_there_is_an_error(project: Path, name: str, sentence: str) -> None:
    (project / "dangling.py").symlink_to("gone.py")

    with pytest.raises(UsageError) as raised:
        read_folder([Path(name)])

    assert str(raised.value) == sentence


def test_what_may_not_be_looked_at_stops_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "locked").mkdir()
    (project / "elsewhere").symlink_to(project / "locked" / "inner")

    def denied(path: Path, asked: Callable[[Path], bool]) -> bool:
        if "locked" in path.parts or path.name == "elsewhere":
            raise PermissionError(13, "Permission denied", str(path))
        return asked(path)

    for name in ("exists", "is_dir"):
        monkeypatch.setattr(Path, name, partialmethod(denied, getattr(Path, name)))

    assert "train.py" in read_folder([project]).requested


def test_a_folder_that_may_not_be_listed_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "secret").mkdir()
    (project / ".hidden").mkdir()
    listed = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name in {"secret", ".hidden"}:
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", refuse)

    folder = read_folder([project])

    assert _reasons(folder) == {"secret/": "cannot be listed: Permission denied"}
    assert "train.py" in folder.requested
