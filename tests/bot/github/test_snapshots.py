"""Commits are read whole, cheaply, and only as far as they can matter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.github.app import App
from bot.github.errors import RefusedError
from bot.settings import WorkerLimits
from simulator import Refuse, Simulator
from tests.bot.github.conftest import client_for, reader_for

ODD = {
    "latin.py": "# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1"),
    "bom.py": b"\xef\xbb\xbfx = 1\n",
    "crlf.py": b"x = 1\r\ny = 2\r\n",
    "nul.py": b"x = '\x00'\n",
    "empty.py": b"",
    "no_newline.py": b"x = 1",
    "folder with space/ü.py": "x = 'ü'\n".encode(),
    "conf/train.yaml": b"lr: 0.1\n",
    "requirements-dev.txt": b"torch\n",
}
PASSED_OVER = {"README.md": b"text\n", "picture.png": b"\x89PNG", "notes.txt": b"text\n", "large.json": b" " * 300_001}


async def test_contents_are_the_bytes_of_the_commit(github: Simulator, app: App, tmp_path: Path) -> None:
    repository = github.create_repository("octo/odd", {**ODD, **PASSED_OVER})
    head = repository.head("main")
    base, _, left_out = await reader_for(client_for(github, app, repository), tmp_path).snapshots(head, head, [])
    assert dict(base.contents) == ODD
    assert base.paths == {*ODD, *PASSED_OVER}
    assert (base.commit, left_out) == (head, 0)


async def test_the_archive_gives_the_same_bytes(github: Simulator, app: App, tmp_path: Path) -> None:
    many = {f"package/m{number}.py": f"value = {number}\n".encode() for number in range(200)}
    repository = github.create_repository("octo/many", {**ODD, **PASSED_OVER, **many})
    head = repository.head("main")
    base, _, _ = await reader_for(client_for(github, app, repository), tmp_path).snapshots(head, head, [])
    assert dict(base.contents) == {**ODD, **many}
    assert (github.counts["repos/download-tarball-archive"], github.counts["graphql"]) == (1, 0)


async def test_a_second_look_asks_only_for_what_changed(github: Simulator, app: App, tmp_path: Path) -> None:
    repository = github.create_repository("octo/train", {"a.py": "a = 1\n", "b.py": "b = 1\n"})
    reader = reader_for(client_for(github, app, repository), tmp_path)
    first = repository.head("main")
    await reader.snapshots(first, first, [])
    second = repository.commit("main", {"b.py": "b = 2\n"}, "Change b")
    before = github.counts.copy()
    _, after, _ = await reader.snapshots(first, second, ["b.py"])
    assert after.contents["b.py"] == b"b = 2\n"
    assert dict(github.counts - before) == {"git/get-tree": 1, "graphql": 1}


async def test_a_tree_that_github_cuts_is_walked(github: Simulator, app: App, tmp_path: Path) -> None:
    files = {f"a{number}/b/c{number}.py": f"x = {number}\n" for number in range(6)}
    repository = github.create_repository("octo/deep", files)
    github.limits = replace(github.limits, tree_entries=7)
    head = repository.head("main")
    base, _, _ = await reader_for(client_for(github, app, repository), tmp_path).snapshots(head, head, [])
    assert base.contents.keys() == files.keys()


async def test_the_budget_keeps_what_is_near_the_change(github: Simulator, app: App, tmp_path: Path) -> None:
    files = {f"{folder}/m{number}.py": f"x = '{folder}{number}'\n" for folder in ("far", "near") for number in range(5)}
    repository = github.create_repository("octo/large", files)
    head = repository.head("main")
    reader = reader_for(client_for(github, app, repository), tmp_path, WorkerLimits(files=6))
    _, after, left_out = await reader.snapshots(head, head, ["near/m3.py"])
    assert left_out == 4
    assert {path for path in after.contents if path.startswith("near/")} == {f"near/m{number}.py" for number in range(5)}


async def test_a_torn_cache_entry_is_read_again(github: Simulator, app: App, tmp_path: Path) -> None:
    repository = github.create_repository("octo/train", {"a.py": "a = 1\n"})
    reader = reader_for(client_for(github, app, repository), tmp_path)
    head = repository.head("main")
    await reader.snapshots(head, head, [])
    (entry,) = [path for path in (tmp_path / "cache" / "blobs").rglob("*") if path.is_file()]
    entry.write_bytes(b"a =")
    assert reader.cache.get(entry.name) is None
    _, after, _ = await reader.snapshots(head, head, [])
    assert after.contents["a.py"] == b"a = 1\n"


async def test_two_installations_share_nothing(github: Simulator, app: App, tmp_path: Path) -> None:
    ours, theirs = (github.create_repository(f"{owner}/train", {"a.py": "secret = 1\n"}) for owner in ("ours", "theirs"))
    for repository in (ours, theirs):
        client = client_for(github, app, repository)
        head = repository.head("main")
        await reader_for(client, tmp_path / str(client.installation)).snapshots(head, head, [])
    assert github.counts["graphql"] == 2


async def test_a_refused_archive_is_an_error(github: Simulator, app: App, tmp_path: Path) -> None:
    repository = github.create_repository("octo/many", {f"m{number}.py": f"x = {number}\n" for number in range(200)})
    github.fail_next("GET", "/tarball/", Refuse(403))
    head = repository.head("main")
    reader = reader_for(client_for(github, app, repository), tmp_path)
    with pytest.raises(RefusedError):
        await reader.snapshots(head, head, [])
