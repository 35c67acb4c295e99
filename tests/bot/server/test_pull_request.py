"""A pull request gets its review, once, whatever happens on the way."""

from __future__ import annotations

import pytest

from simulator import BadGateway, Drop, Exhausted, RateLimited, Repository, Simulator
from simulator.checking import rerequest
from simulator.http.faults import Fault
from tests.bot.server.conftest import TRAIN, reviewed
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]

LARGER = TRAIN.replace("BATCH = 8", "BATCH = 64")
BUGGY = LARGER + "total += BUG\n"


async def test_opened(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.name, run.conclusion, run.title) == ("Preflight", "neutral", "1 finding introduced, memory of 1 entry point changes")
    assert run.annotations == ()  # the suggestion says it already
    (review,) = pull.reviews
    assert (review.commit_id, review.state) == (pull.head_sha, "COMMENTED")
    (suggested,) = pull.review_comments
    assert "```suggestion\ntotal += fixed\n```" in suggested.body
    (memory,) = pull.comments
    assert "goes from 8.0 GiB to 64.0 GiB: no longer fits T4" in memory.body


async def test_the_suggestion_applies(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    pull.apply_suggestion(pull.review_comments[0].id)
    assert repository.read("faster", "train.py") == BUGGY.replace("BUG", "fixed")


async def test_pushed_twice(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    pull.push({"train.py": BUGGY.replace("64", "32")})
    await reviewed(repository, pull)
    pull.push({"train.py": BUGGY.replace("64", "12") + "other = BUG\n"})
    await reviewed(repository, pull)
    (memory,) = pull.comments
    assert "goes from 8.0 GiB to 12.0 GiB: still fits T4" in memory.body
    assert [("total" in comment.body, "other = fixed" in comment.body) for comment in pull.review_comments] == [(True, False), (False, True)]
    assert len(pull.reviews) == 2


async def test_a_finding_of_the_base_is_not_new(github: Simulator) -> None:
    repository = github.create_repository("octo/old", {"train.py": BUGGY})
    pull = repository.open_pull_request("moved", title="Move", files={"train.py": "import torch\n" + BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, run.title) == ("success", "1 finding already there")
    assert (pull.reviews, pull.comments) == ((), ())


async def test_documentation_only(github: Simulator, repository: Repository) -> None:
    pull = repository.open_pull_request("docs", title="Explain", files={"README.md": "Trains well.\n"})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, run.title) == ("success", "No training code changed")
    assert (pull.reviews, pull.comments) == ((), ())
    assert not any("tarball" in request.path and repository.full_name in request.path for request in github.requests)


async def test_a_finding_outside_the_diff_is_an_annotation(github: Simulator) -> None:
    lines = [f"x{number} = {number}" for number in range(40)]
    repository = github.create_repository("octo/long", {"other.py": "\r\n".join(lines)})
    changed = "\r\n".join([*lines[:20], "y = BUG", *lines[20:]])
    pull = repository.open_pull_request("crlf", title="CRLF", files={"other.py": changed})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert pull.reviews == ()
    (annotation,) = run.annotations
    assert (annotation.path, annotation.start_line, annotation.level) == ("other.py", 21, "failure")


async def test_many_annotations_go_in_batches(github: Simulator) -> None:
    repository = github.create_repository("octo/many", {"a.py": "pass\n"})
    pull = repository.open_pull_request("many", title="Many", files={"a.py": "\n".join(f"x{number} = BUG" for number in range(130)) + "\n"})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert len(pull.review_comments) == 10
    assert len(run.annotations) == 120
    assert len({annotation.start_line for annotation in run.annotations}) == 120


@pytest.mark.parametrize(
    ("method", "path", "fault"),
    [
        ("POST", r"/check-runs$", BadGateway(after_write=True)),
        ("POST", r"/check-runs$", BadGateway()),
        ("POST", r"/reviews$", BadGateway(after_write=True)),
        ("POST", r"/reviews$", RateLimited(403, retry_after=1)),
        ("POST", r"/issues/\d+/comments$", Drop(after_write=True)),
        ("PATCH", r"/check-runs/\d+$", BadGateway(after_write=True)),
        ("GET", r"/git/trees/", BadGateway()),
        ("POST", r"/graphql$", BadGateway()),
        ("POST", r"/access_tokens$", BadGateway()),
    ],
)
async def test_nothing_is_lost_or_doubled_when_github_stumbles(github: Simulator, repository: Repository, method: str, path: str, fault: Fault) -> None:
    github.fail_next(method, path, fault)
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert run.title == "1 finding introduced, memory of 1 entry point changes"
    assert (len(pull.reviews), len(pull.review_comments), len(pull.comments)) == (1, 1, 1)


@pytest.mark.parametrize("fault", [RateLimited(429, retry_after=3), Exhausted(reset_in=3)])
async def test_a_long_rate_limit_is_slept_out(github: Simulator, repository: Repository, fault: Fault) -> None:
    github.fail_next("POST", r"/reviews$", fault)
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    assert (len(pull.reviews), len(pull.comments)) == (1, 1)


async def test_a_newer_push_replaces_the_older_job(repository: Repository) -> None:
    pull = repository.open_pull_request("slow", title="Slow", files={"train.py": BUGGY + "# SLEEP 60\n"})
    slow = pull.head_sha
    await until(lambda: repository.check_runs(slow))
    pull.push({"train.py": BUGGY})
    await reviewed(repository, pull)
    await until(lambda: repository.check_runs(slow)[0].conclusion == "cancelled")
    assert [review.commit_id for review in pull.reviews] == [pull.head_sha]
    assert len(pull.comments) == 1


async def test_two_hooks_in_the_wrong_order(github: Simulator, repository: Repository) -> None:
    github.webhooks.hold()
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": LARGER})
    pull.push({"train.py": BUGGY})
    github.webhooks.release(reverse=True)
    await reviewed(repository, pull)
    assert len(repository.check_runs(pull.head_sha)) == 1
    assert (len(pull.reviews), len(pull.comments)) == (1, 1)


async def test_hooks_that_come_at_once_leave_one_job(github: Simulator, repository: Repository) -> None:
    github.webhooks.hold()
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": LARGER})
    for number in range(4):
        pull.push({"train.py": f"{BUGGY}# {number}\n"})
    github.webhooks.release(together=5)
    await reviewed(repository, pull)
    assert (len(pull.reviews), len(pull.comments)) == (1, 1)


async def test_a_draft_and_a_label_skip(repository: Repository) -> None:
    pull = repository.open_pull_request("draft", title="Draft", files={"train.py": BUGGY}, draft=True)
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, run.title) == ("skipped", "Skipped: draft")
    pull.set_labels("preflight: skip")
    await until(lambda: [run.title for run in repository.check_runs(pull.head_sha)].count("Skipped") == 1)
    pull.set_labels()
    pull.set_draft(draft=False)
    await until(lambda: pull.comments)
    assert len(pull.reviews) == 1


async def test_rerequested_looks_again_and_posts_nothing_twice(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    rerequest(repository, run, repository.owner)
    await until(lambda: sum(each.status == "completed" for each in repository.check_runs(pull.head_sha)) == 2)
    assert (len(pull.reviews), len(pull.review_comments), len(pull.comments)) == (1, 1, 1)


async def test_a_worker_that_dies_is_reported(repository: Repository) -> None:
    pull = repository.open_pull_request("crash", title="Crash", files={"train.py": "CRASH\n"})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, run.title) == ("neutral", "Preflight could not finish")
    assert "ended without a result \\(status 7\\)" in (run.summary or "")
    assert pull.comments == ()


async def test_a_fork_is_reviewed(repository: Repository) -> None:
    fork = repository.fork("stranger")
    pull = repository.open_pull_request("stranger:faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    assert fork.check_runs() == ()
    assert (len(pull.reviews), len(pull.comments)) == (1, 1)


async def test_a_large_repository_comes_as_one_archive(github: Simulator) -> None:
    files = {f"package/module_{number}.py": f"value = {number}\n" for number in range(400)}
    repository = github.create_repository("octo/large", {**files, "train.py": TRAIN})
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + "# large\n"})
    await reviewed(repository, pull)
    before = github.counts.copy()
    assert before["repos/download-tarball-archive"] == 1
    pull.push({"train.py": BUGGY + "# larger\n"})
    await reviewed(repository, pull)
    spent = github.counts - before
    assert (spent["repos/download-tarball-archive"], spent["graphql"]) == (0, 3)  # contents, the pause and the conversation


async def test_an_invalid_configuration_is_reported(github: Simulator) -> None:
    repository = github.create_repository("octo/configured", {"train.py": TRAIN, ".preflight.toml": "drafts = 'perhaps'\n"})
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY, ".preflight.toml": "suggestions = false\n"})
    await reviewed(repository, pull)
    assert len(pull.reviews) == 1  # the head's configuration does not count
    (run,) = repository.check_runs(pull.head_sha)
    (annotation,) = run.annotations
    assert (annotation.path, annotation.start_line, annotation.level) == (".preflight.toml", 1, "warning")
    assert "drafts must be true or false" in annotation.message


async def test_older_comments_are_hidden_where_the_configuration_asks_for_it(github: Simulator) -> None:
    repository = github.create_repository("octo/hiding", {"train.py": TRAIN, ".preflight.toml": 'comment = "hide-and-new"\n'})
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": LARGER})
    await reviewed(repository, pull)
    pull.push({"train.py": LARGER.replace("64", "32")})
    await reviewed(repository, pull)
    assert [(comment.minimized is not None, "32.0 GiB" in comment.body) for comment in pull.comments] == [(True, False), (False, True)]


async def test_a_comment_that_was_doubled_is_healed(github: Simulator, repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": LARGER})
    await reviewed(repository, pull)
    pull.comment(github.bot.login, pull.comments[0].body)
    pull.comment("mallory", pull.comments[0].body)
    pull.push({"train.py": LARGER.replace("64", "32")})
    await reviewed(repository, pull)
    ours = [comment for comment in pull.comments if comment.user == github.bot]
    assert ["32.0 GiB" in comment.body for comment in ours] == [True]
    assert len(pull.comments) == 2  # a stranger's copy is neither taken for ours nor touched


async def test_a_job_that_cannot_be_finished_says_why(github: Simulator, repository: Repository) -> None:
    github.fail_next("GET", r"/git/trees/", BadGateway(), times=16)
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + "# unseen\n"})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, run.title) == ("neutral", "Preflight could not finish")
    assert "502" in (run.summary or "")
    github.faults.clear()
    github.webhooks.redeliver([each for each in github.webhooks.deliveries if each.event.name == "pull_request"][-1])
    await until(lambda: pull.comments)
    (run,) = repository.check_runs(pull.head_sha)
    assert run.title == "1 finding introduced, memory of 1 entry point changes"


async def test_a_review_that_cannot_be_posted_is_named_in_the_check(github: Simulator, repository: Repository) -> None:
    github.fail_next("POST", r"/reviews$", BadGateway(), times=4)
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (run,) = repository.check_runs(pull.head_sha)
    assert (run.conclusion, run.title) == ("neutral", "1 finding introduced, memory of 1 entry point changes")
    assert (run.summary or "").startswith("**The review or the memory comment could not be posted:** POST /repos/")
    assert "`train.py:5`" in (run.summary or "")  # what the review would have shown
    rerequest(repository, run, repository.owner)
    await until(lambda: pull.comments)
    assert len(pull.reviews) == 1


async def test_a_base_branch_with_an_odd_name(repository: Repository) -> None:
    repository.commit("release/1.0#ü", {"train.py": TRAIN}, "Branch off")
    pull = repository.open_pull_request("faster", "release/1.0#ü", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    assert (len(pull.reviews), len(pull.comments)) == (1, 1)


async def test_another_base_is_another_comparison(repository: Repository) -> None:
    repository.commit("large", {"train.py": LARGER}, "Go large")
    pull = repository.open_pull_request("faster", "large", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    assert (len(pull.reviews), pull.comments) == (1, ())
    pull.change_base("main")
    await until(lambda: pull.comments)
    assert "goes from 8.0 GiB to 64.0 GiB" in pull.comments[0].body
    assert len(pull.reviews) == 1
