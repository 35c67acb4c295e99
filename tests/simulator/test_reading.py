"""What the App reads: pull requests, files, trees, blobs, contents, comparisons and archives."""

from __future__ import annotations

import base64
import io
import tarfile
from dataclasses import replace

from simulator import PullRequest, Repository, Simulator
from simulator.git.objects import SYMLINK_MODE, FileWrite
from tests.simulator.client import REPOSITORY, AppClient
from tests.simulator.conftest import NEW, OLD


async def test_a_pull_request_names_its_commits_and_counts(app: AppClient, pull: PullRequest) -> None:
    shown = (await app.get(f"{REPOSITORY}/pulls/1")).json

    assert (shown["head"]["sha"], shown["base"]["ref"]) == (pull.head_sha, "main")
    assert (shown["additions"], shown["deletions"], shown["changed_files"], shown["commits"]) == (3, 2, 1, 1)
    assert shown["mergeable"] is True
    newer = (await app.get(f"{REPOSITORY}/pulls/1", X_GitHub_Api_Version="2026-03-10")).json
    assert set(shown) - set(newer) == {"merge_commit_sha"}


async def test_files_come_with_their_patch_except_binary_and_large_ones(app: AppClient, pull: PullRequest, github: Simulator) -> None:
    pull.push({"weights.bin": b"\0\1\2", "package/model.py": None, "big.txt": "x\n" * 50, "a b'ü.py": "1\n"})
    github.limits = replace(github.limits, patch_lines=40)

    files = {one["filename"]: one for one in (await app.get(f"{REPOSITORY}/pulls/1/files")).json}

    assert files["train.py"]["patch"].startswith("@@ -7,7 +7,7 @@")
    assert "patch" not in files["weights.bin"]
    assert "patch" not in files["big.txt"]
    assert files["package/model.py"]["status"] == "removed"
    assert files["a b'ü.py"]["status"] == "added"


async def test_a_renamed_file_names_both_paths(app: AppClient, pull: PullRequest) -> None:
    pull.push({"train.py": None, "fit.py": NEW})

    files = (await app.get(f"{REPOSITORY}/pulls/1/files")).json

    assert [(one["filename"], one.get("previous_filename"), one["status"]) for one in files] == [("fit.py", "train.py", "renamed")]


async def test_the_diff_starts_at_the_merge_base(app: AppClient, repository: Repository, pull: PullRequest) -> None:
    repository.commit("main", {"train.py": OLD + "another line on main\n"})

    compared = (await app.get(f"{REPOSITORY}/compare/main...faster")).json

    assert (compared["status"], compared["ahead_by"], compared["behind_by"]) == ("diverged", 1, 1)
    assert compared["merge_base_commit"]["sha"] == pull.merge_base
    assert compared["files"][0]["additions"] == 3
    diff = await app.get(f"{REPOSITORY}/compare/main...faster", Accept="application/vnd.github.diff")
    assert diff.content.startswith(b"diff --git a/train.py")
    assert b"another line on main" not in diff.content


async def test_trees_list_everything_until_they_are_truncated(app: AppClient, github: Simulator) -> None:
    whole = (await app.get(f"{REPOSITORY}/git/trees/main?recursive=1")).json
    github.limits = replace(github.limits, tree_entries=2)
    cut = (await app.get(f"{REPOSITORY}/git/trees/main?recursive=1")).json

    assert [(row["path"], row["type"]) for row in whole["tree"]] == [("package", "tree"), ("package/model.py", "blob"), ("train.py", "blob")]
    assert (whole["truncated"], cut["truncated"], len(cut["tree"])) == (False, True, 2)


async def test_blobs_and_contents_are_the_stored_bytes(app: AppClient) -> None:
    row = (await app.get(f"{REPOSITORY}/git/trees/main")).json["tree"][-1]

    blob = (await app.get(f"{REPOSITORY}/git/blobs/{row['sha']}")).json
    contents = (await app.get(f"{REPOSITORY}/contents/train.py?ref=main")).json
    raw = await app.get(f"{REPOSITORY}/contents/train.py", Accept="application/vnd.github.raw+json")

    assert base64.b64decode(blob["content"]).decode() == base64.b64decode(contents["content"]).decode() == raw.content.decode() == OLD
    assert (await app.get(f"{REPOSITORY}/git/blobs/{'0' * 40}")).status == 404
    assert (await app.get(f"{REPOSITORY}/contents/nothing.py")).status == 404


async def test_large_contents_are_only_raw_and_links_are_followed(app: AppClient, repository: Repository, github: Simulator) -> None:
    repository.commit("main", {"link": FileWrite(b"package/model.py", SYMLINK_MODE), "out": FileWrite(b"../../etc/passwd", SYMLINK_MODE)})

    followed = (await app.get(f"{REPOSITORY}/contents/link")).json
    outside = (await app.get(f"{REPOSITORY}/contents/out")).json
    github.limits = replace(github.limits, content_bytes=10)
    large = (await app.get(f"{REPOSITORY}/contents/train.py")).json

    assert base64.b64decode(followed["content"]) == b"class Model: ...\n"
    assert (outside["type"], outside["target"]) == ("symlink", "../../etc/passwd")
    assert (large["content"], large["encoding"]) == ("", "none")


async def test_folders_and_the_root_are_lists(app: AppClient) -> None:
    assert [one["path"] for one in (await app.get(f"{REPOSITORY}/contents/package")).json] == ["package/model.py"]
    assert [one["type"] for one in (await app.get(f"{REPOSITORY}/contents/")).json] == ["dir", "file"]


async def test_an_archive_needs_no_token_but_its_signed_address(app: AppClient, pull: PullRequest, github: Simulator) -> None:
    reply = await app.get(f"{REPOSITORY}/tarball/{pull.head_sha}")
    address = reply.headers["Location"]
    assert reply.status == 302

    archive = await app.send("GET", address, token="")

    with tarfile.open(fileobj=io.BytesIO(archive.content)) as packed:
        folder = f"octo-train-{pull.head_sha[:7]}"
        member = packed.extractfile(f"{folder}/train.py")
        assert member is not None
        assert member.read().decode() == NEW
    assert (await app.send("GET", address[:-1] + ("0" if address[-1] != "0" else "1"), token="")).status == 404
    github.clock.advance(301)
    assert (await app.send("GET", address, token="")).status == 404
    assert github.archives.authorizations_seen == []


async def test_archives_can_come_from_another_host() -> None:
    async with Simulator.start(separate_archive_host=True) as github:
        assert not github.platform.urls.archive.startswith(github.api_url)


async def test_lists_come_in_pages_with_links(app: AppClient, pull: PullRequest) -> None:
    for number in range(5):
        pull.comment("mona", f"comment {number}")

    first = await app.get(f"{REPOSITORY}/issues/1/comments?per_page=2")
    last = await app.get(f"{REPOSITORY}/issues/1/comments?per_page=2&page=3")

    assert [one["body"] for one in first.json] == ["comment 0", "comment 1"]
    assert f'<{app.github.api_url}{REPOSITORY}/issues/1/comments?per_page=2&page=2>; rel="next"' in first.headers["Link"]
    assert 'rel="last"' in first.headers["Link"]
    assert [one["body"] for one in last.json] == ["comment 4"]
    assert 'rel="next"' not in last.headers["Link"]


async def test_a_fork_is_read_through_its_pull_request(app: AppClient, repository: Repository) -> None:
    repository.fork("mona")
    pull = repository.open_pull_request("mona:idea", title="From a fork", files={"new.py": "1\n"})

    shown = (await app.get(f"{REPOSITORY}/pulls/{pull.number}")).json
    tree = (await app.get(f"{REPOSITORY}/git/trees/{pull.head_sha}")).json
    compared = (await app.get(f"{REPOSITORY}/compare/main...mona:idea")).json

    assert (shown["head"]["repo"]["full_name"], shown["head"]["label"]) == ("mona/train", "mona:idea")
    assert "new.py" in [row["path"] for row in tree["tree"]]
    assert compared["ahead_by"] == 1
    assert (await app.get("/repos/mona/train")).status == 404


async def test_a_permission_is_looked_up_by_role(app: AppClient, repository: Repository) -> None:
    repository.grant("lead", "maintain")

    levels = {name: (await app.get(f"{REPOSITORY}/collaborators/{name}/permission")).json["permission"] for name in ("octo", "lead", "mona")}

    assert levels == {"octo": "admin", "lead": "write", "mona": "read"}
    assert (await app.get(f"{REPOSITORY}/collaborators/nobody/permission")).status == 404


async def test_an_unchanged_answer_is_not_sent_again(app: AppClient) -> None:
    first = await app.get(f"{REPOSITORY}/pulls/1")

    again = await app.get(f"{REPOSITORY}/pulls/1", If_None_Match=first.headers["ETag"])

    assert (again.status, again.content) == (304, b"")
    assert again.headers["x-ratelimit-used"] == first.headers["x-ratelimit-used"]


async def test_an_enterprise_address_answers_the_same(app: AppClient) -> None:
    assert (await app.get(f"/api/v3{REPOSITORY}/pulls/1")).json == (await app.get(f"{REPOSITORY}/pulls/1")).json
    assert (await app.post("/api/graphql", {"query": "{viewer{login}}"})).json == {"data": {"viewer": {"login": "preflight-bot[bot]"}}}
