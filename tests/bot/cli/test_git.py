"""Reading commits of a local repository, bare or not, without running anything that it names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bot.cli.git import GitRepository
from bot.cli.outcome import UsageError


def _git(folder: Path, *words: str) -> str:
    identity = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com"}
    clean = {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True, env={**os.environ, **identity, **clean}
    ).stdout.strip()


def _commit(folder: Path, message: str, **files: str) -> str:
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".py").write_text(content)
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", message)
    return _git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    _git(tmp_path, "init", "-q", "-b", "main")
    _commit(tmp_path, "first", train="x = 1\n", pkg__net="y = 1\n")
    _git(tmp_path, "checkout", "-q", "-b", "feature")
    _commit(tmp_path, "second", train="x = 2\n")
    _git(tmp_path, "checkout", "-q", "main")
    _commit(tmp_path, "third", other="z = 1\n")
    return tmp_path


def test_a_commit_is_a_snapshot(repository: Path) -> None:
    git = GitRepository(repository)
    snapshot = git.snapshot(git.commit("feature"))

    assert snapshot.contents == {"train.py": b"x = 2\n", "pkg/net.py": b"y = 1\n"}
    assert snapshot.commit == _git(repository, "rev-parse", "feature")


def test_a_bare_repository_is_read_alike(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    bare = tmp_path_factory.mktemp("bare")
    _git(repository, "clone", "-q", "--bare", str(repository), str(bare))
    git = GitRepository(bare)

    assert git.snapshot(git.commit("feature")).contents == GitRepository(repository).snapshot(git.commit("feature")).contents


def test_the_change_counts_from_the_merge_base(repository: Path) -> None:
    git = GitRepository(repository)
    base, head = git.commit("main"), git.commit("feature")

    assert git.merge_base(base, head) == git.commit("main~1")
    assert git.changed_paths(git.merge_base(base, head), head) == {"train.py"}


def test_a_subfolder_stands_for_its_repository(repository: Path) -> None:
    git = GitRepository(repository / "pkg")

    assert set(git.snapshot(git.commit("main")).paths) == {"train.py", "pkg/net.py", "other.py"}


def test_names_may_hold_anything(repository: Path) -> None:
    (repository / os.fsdecode(b"\xff [a]\n:(top)*.py")).write_text("q = 1\n")
    head = _commit(repository, "odd")

    assert GitRepository(repository).snapshot(head).contents[os.fsdecode(b"\xff [a]\n:(top)*.py")] == b"q = 1\n"


def test_links_and_submodules_are_not_files(repository: Path) -> None:
    (repository / "link.py").symlink_to("/etc/passwd")
    _git(repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module.py")
    head = _commit(repository, "odd")

    assert {"link.py", "module.py"}.isdisjoint(GitRepository(repository).snapshot(head).paths)


def test_nothing_that_the_repository_names_is_run(repository: Path) -> None:
    witness = repository / "witness"
    program = repository / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch {witness}\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "diff.external", "core.pager", "core.alternateRefsCommand"):
        _git(repository, "config", key, str(program))
    _git(repository, "config", "filter.x.smudge", str(program))
    (repository / ".gitattributes").write_text("* filter=x diff=x\n")
    head = _commit(repository, "attributes")
    witness.unlink(missing_ok=True)

    git = GitRepository(repository)
    git.snapshot(head)
    git.changed_paths(git.commit("main~1"), head)

    assert not witness.exists()


def test_a_partial_clone_gives_what_it_holds(repository: Path) -> None:
    commit = _git(repository, "rev-parse", "main")
    _drop(repository, _git(repository, "rev-parse", "main:train.py"))
    snapshot = GitRepository(repository).snapshot(commit)
    assert "train.py" in snapshot.paths
    assert set(snapshot.contents) == {"pkg/net.py", "other.py"}
    assert GitRepository(repository).missing(commit) == ("train.py",)

    for path in ("pkg/net.py", "other.py"):
        _drop(repository, _git(repository, "rev-parse", f"main:{path}"))
    with pytest.raises(UsageError, match="the clone is partial"):
        GitRepository(repository).snapshot(commit)


def _drop(repository: Path, blob: str) -> None:
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def test_an_unknown_commit_is_named(repository: Path) -> None:
    with pytest.raises(UsageError, match="there is no commit nowhere; fetch it, or name another"):
        GitRepository(repository).commit("nowhere")


def test_a_revision_cannot_be_an_option(repository: Path) -> None:
    with pytest.raises(UsageError, match="there is no commit --output=x"):
        GitRepository(repository).commit("--output=x")


def test_a_folder_that_is_no_repository_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a git repository"):
        GitRepository(tmp_path).commit("main")


def test_unrelated_histories_have_no_merge_base(repository: Path) -> None:
    _git(repository, "checkout", "-q", "--orphan", "island")
    head = _commit(repository, "alone", alone="a = 1\n")

    with pytest.raises(UsageError, match="have no commit in common"):
        GitRepository(repository).merge_base(GitRepository(repository).commit("main"), head)
