"""GraphQL: batched blobs, review threads, hiding comments, commits; and honest errors."""

from __future__ import annotations

import base64
from dataclasses import replace

from simulator import PullRequest, Repository, Simulator
from tests.simulator.client import REPOSITORY, AppClient
from tests.simulator.conftest import OLD

BLOBS = """
query($owner: String!, $name: String!, $oid: GitObjectID!) {
  repository(owner: $owner, name: $name) {
    a: object(expression: "main:train.py") { ... on Blob { text isBinary isTruncated byteSize oid } }
    b: object(oid: $oid) { ... on Blob { text isBinary isTruncated byteSize } }
    c: object(expression: "main:nothing") { oid }
    d: object(expression: "main:package") { ... on Tree { entries { name type object { ... on Blob { text } } } } }
    e: object(expression: "main") { ... on Commit { message tree { oid } } }
  }
}
"""
THREADS = """
query($number: Int!) {
  repository(owner: "octo", name: "train") {
    pullRequest(number: $number) {
      headRefOid state
      files(first: 10) { nodes { path changeType additions } totalCount }
      comments(first: 10) { nodes { id isMinimized minimizedReason viewerDidAuthor author { login } } }
      reviewThreads(first: 10) {
        nodes { id isResolved isOutdated line originalLine path comments(first: 10) { nodes { id body author { login __typename } } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
"""


async def test_many_blobs_come_in_one_request(app: AppClient, repository: Repository) -> None:
    repository.commit("main", {"weights.bin": b"\0\1"})
    oid = repository.git.entry("main", "weights.bin")
    assert oid is not None

    found = (await app.graphql(BLOBS, owner="octo", name="train", oid=oid.sha))["data"]["repository"]

    assert (found["a"]["text"], found["a"]["byteSize"], found["a"]["isTruncated"]) == (OLD, len(OLD), False)
    assert found["b"] == {"text": None, "isBinary": True, "isTruncated": False, "byteSize": 2}
    assert found["c"] is None
    assert found["d"]["entries"] == [{"name": "model.py", "type": "blob", "object": {"text": "class Model: ...\n"}}]
    assert found["e"]["message"] == "Change files"


async def test_long_texts_are_truncated_and_say_so(app: AppClient, github: Simulator) -> None:
    github.limits = replace(github.limits, graphql_text_bytes=6)

    found = (await app.graphql('{repository(owner:"octo",name:"train"){object(expression:"main:train.py"){... on Blob{text isTruncated byteSize}}}}'))["data"]

    assert found["repository"]["object"] == {"text": OLD[:6], "isTruncated": True, "byteSize": len(OLD)}


async def test_threads_are_read_and_resolved(app: AppClient, pull: PullRequest) -> None:
    body = {"event": "COMMENT", "body": "Read.", "comments": [{"path": "train.py", "line": 10, "side": "RIGHT", "body": "Look."}]}
    await app.post(f"{REPOSITORY}/pulls/1/reviews", body)
    pull.reply(pull.review_comments[0].id, "mona", "Why?")
    shown = (await app.graphql(THREADS, number=1))["data"]["repository"]["pullRequest"]
    thread = shown["reviewThreads"]["nodes"][0]

    assert (thread["isResolved"], thread["isOutdated"], thread["line"], thread["path"]) == (False, False, 10, "train.py")
    assert [one["author"] for one in thread["comments"]["nodes"]] == [{"login": "preflight-bot", "__typename": "Bot"}, {"login": "mona", "__typename": "User"}]
    assert shown["files"] == {"nodes": [{"path": "train.py", "changeType": "MODIFIED", "additions": 3}], "totalCount": 1}

    mutation = "mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved resolvedBy { login } } } }"
    resolved = await app.graphql(mutation, id=thread["id"])
    pull.push({"train.py": OLD})
    after = (await app.graphql(THREADS, number=1))["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"][0]

    assert resolved["data"]["resolveReviewThread"]["thread"] == {"isResolved": True, "resolvedBy": {"login": "preflight-bot"}}
    assert (after["isResolved"], after["isOutdated"], after["line"], after["originalLine"]) == (True, True, None, 10)


async def test_a_comment_is_hidden_with_a_reason(app: AppClient, pull: PullRequest) -> None:
    await app.post(f"{REPOSITORY}/issues/1/comments", {"body": "Old."})
    node = (await app.graphql(THREADS, number=1))["data"]["repository"]["pullRequest"]["comments"]["nodes"][0]
    mutation = "mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized minimizedReason } } }"

    hidden = await app.graphql(mutation, id=node["id"])

    assert node["viewerDidAuthor"] is True
    assert hidden["data"]["minimizeComment"]["minimizedComment"] == {"isMinimized": True, "minimizedReason": "outdated"}
    assert pull.comments[0].minimized == "outdated"


async def test_a_commit_is_refused_when_the_head_has_moved(app: AppClient, pull: PullRequest, repository: Repository) -> None:
    mutation = "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }"
    given = {
        "branch": {"repositoryNameWithOwner": "octo/train", "branchName": "faster"},
        "message": {"headline": "Fix", "body": "All of it"},
        "fileChanges": {
            "additions": [{"path": "new.py", "contents": base64.b64encode(b"1\n").decode()}],
            "deletions": [{"path": "package/model.py"}],
        },
        "expectedHeadOid": pull.merge_base,
    }

    stale = await app.graphql(mutation, input=given)
    made = await app.graphql(mutation, input={**given, "expectedHeadOid": pull.head_sha})

    assert stale["errors"][0]["type"] == "STALE_DATA"
    assert made["data"]["createCommitOnBranch"]["commit"]["oid"] == pull.head_sha
    assert repository.read("faster", "new.py") == "1\n"
    assert repository.git.entry("faster", "package/model.py") is None


async def test_unknown_fields_and_missing_page_sizes_are_errors_and_violations(app: AppClient, github: Simulator) -> None:
    unknown = await app.graphql('{repository(owner:"octo",name:"train"){nope}}')
    sizeless = await app.graphql('{repository(owner:"octo",name:"train"){pullRequest(number:1){comments{totalCount}}}}')
    too_many = await app.graphql('{repository(owner:"octo",name:"train"){pullRequest(number:1){comments(first:101){totalCount}}}}')

    assert "nope" in unknown["errors"][0]["message"]
    assert "data" not in unknown
    assert "`first` or `last`" in sizeless["errors"][0]["message"]
    assert "limit of 100" in too_many["errors"][0]["message"]
    assert len(github.violations) == 3
    assert (await app.post("/graphql", {"qery": "{viewer{login}}"})).status == 400


async def test_what_a_token_may_not_see_is_not_there(app: AppClient, github: Simulator) -> None:
    github.create_repository("stranger/secret", {"a": "b"}, private=True)
    blind = (await app.new_token({"permissions": {"pull_requests": "read"}})).json["token"]
    query = {"query": '{repository(owner:"octo",name:"train"){object(expression:"main"){oid}}}'}

    hidden = await app.graphql('{repository(owner:"stranger",name:"secret"){name}}')
    refused = (await app.send("POST", "/graphql", query, token=blind)).json

    assert (hidden["data"], hidden["errors"][0]["type"]) == ({"repository": None}, "NOT_FOUND")
    assert (refused["data"]["repository"], refused["errors"][0]["type"]) == ({"object": None}, "FORBIDDEN")


async def test_connections_are_read_page_by_page(app: AppClient, pull: PullRequest) -> None:
    for number in range(5):
        pull.comment("mona", str(number))
    query = """query($after: String) { repository(owner: "octo", name: "train") { pullRequest(number: 1) {
        comments(first: 2, after: $after) { nodes { body } pageInfo { hasNextPage endCursor } totalCount } } } }"""
    seen, after = [], None
    while True:
        page = (await app.graphql(query, after=after))["data"]["repository"]["pullRequest"]["comments"]
        seen += [one["body"] for one in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break

    assert (seen, page["totalCount"]) == (["0", "1", "2", "3", "4"], 5)
