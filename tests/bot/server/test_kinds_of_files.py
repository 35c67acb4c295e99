"""Everything that a repository may hold is read or left out without stopping the review: links, submodules, LFS, huge diffs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator import Repository, Simulator
from simulator.git.commits import FileWrite
from tests.bot.server.conftest import TRAIN, reviewed
from tests.bot.server.test_pull_request import BUGGY

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"


@pytest.mark.parametrize("path", ["conf/train.yaml", "ds_config.json", "launch.sh", "requirements.txt", "run.slurm"])
async def test_a_change_of_configuration_alone_is_read(github: Simulator, path: str) -> None:
    repository = github.create_repository(f"octo/alone-{path.replace('/', '-')}", {"train.py": TRAIN, path: "lr: 1\n"})
    pull = repository.open_pull_request("change", title="Change", files={path: "lr: BUG\n"})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert run.title == "1 finding introduced"


async def test_links_submodules_and_pointers_are_left_out(github: Simulator) -> None:
    repository = github.create_repository("octo/odd", {"train.py": TRAIN})
    odd = {
        "link.py": FileWrite(b"/etc/passwd", "120000"),
        "up.py": FileWrite(b"../../secret.py", "120000"),
        "module.py": FileWrite(b"1" * 40, "160000"),
        "weights.bin": POINTER,
        "pointer.py": POINTER,
        "train.py": BUGGY,
    }
    pull = repository.open_pull_request("odd", title="Odd", files=odd)
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert run.title == "1 finding introduced, memory of 1 entry point changes"
    assert "root:" not in (run.summary or "")


async def test_a_diff_that_github_does_not_show_is_annotated(github: Simulator) -> None:
    github.limits = replace(github.limits, patch_lines=20)
    try:
        repository = github.create_repository("octo/long-diff", {"train.py": TRAIN})
        pull = repository.open_pull_request("long", title="Long", files={"train.py": BUGGY + "".join(f"x{number} = 1\n" for number in range(60))})
        await reviewed(repository, pull)
    finally:
        github.limits = replace(github.limits, patch_lines=20_000)
    (run,) = repository.check_runs(pull.head_sha)
    assert pull.reviews == ()
    assert [annotation.start_line for annotation in run.annotations] == [5]


async def test_more_files_than_github_lists(github: Simulator) -> None:
    github.limits = replace(github.limits, pull_files=3, tree_entries=5)
    try:
        many = {f"many/part_{number}.py": f"x = {number}\n" for number in range(9)}
        repository = github.create_repository("octo/many-files", {"train.py": TRAIN, **many})
        changed = {path: f"{text}# more\n" for path, text in many.items()}
        pull = repository.open_pull_request("many", title="Many", files={**changed, "train.py": BUGGY})
        await reviewed(repository, pull)
    finally:
        github.limits = replace(github.limits, pull_files=3000, tree_entries=100_000)
    (run,) = repository.check_runs(pull.head_sha)
    assert "1 finding introduced" in (run.title or "")
    assert "GitHub lists 3 of the 10 changed files" in (run.summary or "")


async def test_entry_points_of_several_projects(github: Simulator) -> None:
    repository = github.create_repository("octo/mono", {"a/train.py": TRAIN, "b/train.py": TRAIN, "train.py": TRAIN})
    pull = repository.open_pull_request("both", title="Both", files={"a/train.py": BUGGY, "b/train.py": BUGGY})
    await reviewed(repository, pull)
    assert sorted(comment.anchor.path for comment in pull.review_comments) == ["a/train.py", "b/train.py"]


async def test_a_file_that_is_removed(repository: Repository) -> None:
    pull = repository.open_pull_request("less", title="Less", files={"train.py": None})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert run.conclusion == "success"
    (memory,) = pull.comments
    assert "no longer trains a model" in memory.body
