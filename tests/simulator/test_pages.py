"""The pages: they show what was posted, their buttons work, and nothing that anybody wrote runs in them."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from simulator import PullRequest, Simulator
from simulator.web.markdown import render
from simulator.web.markup import element
from simulator.web.sanitizer import sanitize
from tests.simulator.client import REPOSITORY, AppClient, Hook

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)><a href='javascript:alert(1)'>x</a><details ontoggle=alert(1) open>"
    "<style>*{display:none}</style><iframe src='//evil'></iframe><svg onload=alert(1)></svg><!-- hidden --><form action=//evil>"
    "[x](javascript:alert(1)) ![y](http://evil/pixel.png) <b style='position:fixed'>z</b></div></main></table>"
)


class Elements(HTMLParser):
    """All elements of a page, and whether each was closed where it should be."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.misplaced: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("br", "hr", "img", "input", "link", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.misplaced.append(tag)

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.found}


def assert_inert(page: str) -> None:
    elements = Elements(page)
    assert elements.tags.isdisjoint({"script", "iframe", "style", "svg", "img", "object"})
    for _, attributes in elements.found:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert not (attributes.get("href") or "").lower().startswith("javascript")
    assert (elements.misplaced, elements.open) == ([], [])


@pytest.mark.parametrize("text", [HOSTILE, f"```suggestion\n{HOSTILE}\n```", f"| a |\n|---|\n| {HOSTILE} |", f"<details><summary>{HOSTILE}", f"> {HOSTILE}"])
def test_hostile_comments_are_inert(text: str) -> None:
    assert_inert(render(text))
    assert_inert(render(text, lambda suggestion: element("div", suggestion)))


def test_a_hidden_marker_leaves_no_trace() -> None:
    assert "preflight" not in render("<!-- preflight: 1 -->\nHello")


def test_what_comments_may_contain_is_kept() -> None:
    shown = render("<details><summary>More</summary>\n\n| a | b |\n|---|--:|\n| `x` | 1 |\n\n</details>\n\n<sub>small</sub><br>~~old~~\n- [x] done")

    for part in (
        "<details><summary>More</summary>",
        '<td align="right">1</td>',
        "<code>x</code>",
        "</details>",
        "<sub>small</sub><br>",
        "<s>old</s>",
        "☑ done",
    ):
        assert part in shown


def test_alerts_and_code_have_their_look() -> None:
    assert '<span class="alert-warning">Warning</span>' in render("> [!WARNING]\n> Careful.")
    assert '<span class="code-keyword">import</span>' in render("```python\nimport torch\n```")
    assert '<span class="code-removed">-old' in render("```diff\n-old\n+new\n```")


def test_a_comment_cannot_write_the_place_of_a_suggestion() -> None:
    assert render("\ue0000\ue001", lambda _: element("b")) == "<p>0</p>\n"


def test_unclosed_and_unopened_elements_are_mended() -> None:
    assert sanitize("<b>a<i>b</b></i></table>c<details>") == "<b>a<i>b</i></b>c<details></details>"


async def page(app: AppClient, path: str) -> str:
    async with app.session.get(f"{app.github.web_url}{path}") as response:
        assert response.status == 200
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert response.headers["Referrer-Policy"] == "same-origin"  # otherwise browsers send "Origin: null" with our own forms
        return await response.text()


async def fill(app: AppClient, pull: PullRequest) -> None:
    annotation = {
        "path": "train.py",
        "start_line": 10,
        "end_line": 10,
        "annotation_level": "failure",
        "message": HOSTILE,
        "title": HOSTILE[:200],
        "raw_details": HOSTILE,
    }
    output = {"title": f"Title {HOSTILE}", "summary": f"## Summary\n{HOSTILE}", "annotations": [annotation]}
    await app.post(f"{REPOSITORY}/check-runs", {"name": "Preflight", "head_sha": pull.head_sha, "conclusion": "neutral", "output": output})
    body = f"Found. {HOSTILE}\n```suggestion\nline X <b>\n```"
    comments = [
        {"path": "train.py", "line": 10, "side": "RIGHT", "body": body},
        {"path": "train.py", "line": 21, "start_line": 20, "side": "RIGHT", "body": "Range."},
    ]
    await app.post(f"{REPOSITORY}/pulls/1/reviews", {"event": "COMMENT", "body": "One review.", "comments": comments})
    await app.post(f"{REPOSITORY}/issues/1/comments", {"body": "<!-- mark -->\n### Peak memory\n\n| a | b |\n|---|---|\n| 1 | 2 |"})
    pull.comment("mona", HOSTILE)


async def test_the_pages_show_what_was_posted_and_nothing_runs(app: AppClient, pull: PullRequest) -> None:
    await fill(app, pull)
    conversation, checks, files = [await page(app, f"/octo/train/pull/1{tab}") for tab in ("", "/checks", "/files")]

    for shown in (conversation, checks, files, await page(app, "/"), await page(app, "/octo/train")):
        assert_inert(shown)
    assert "One review." in conversation
    assert "<h3>Peak memory</h3>" in conversation
    assert "Commit suggestion" in conversation
    assert '<tr class="removed"><td class="number">10</td>' in conversation
    assert "line X &lt;b&gt;" in conversation
    assert "<h2>Summary</h2>" in checks
    assert "train.py L10" in checks
    assert "Range." in files
    assert 'id="L10"' in await page(app, f"/octo/train/blob/{pull.head_sha}/train.py")


async def test_the_suggestion_button_commits_it(app: AppClient, pull: PullRequest) -> None:
    await fill(app, pull)
    before = pull.head_sha
    address = f"{app.github.web_url}/octo/train/pull/1/suggestions/{pull.review_comments[0].id}"

    async with app.session.post(address, headers={"Origin": "http://evil.example"}, allow_redirects=False) as response:
        assert (response.status, pull.head_sha) == (403, before)
    async with app.session.post(address, headers={"Origin": app.github.web_url}, allow_redirects=False) as response:
        assert response.status == 303
    assert "line X <b>\n" in pull.repository.read(pull.head_sha, "train.py")
    async with app.session.post(address, allow_redirects=False) as response:
        assert response.status == 422
    assert "Outdated" in await page(app, "/octo/train/pull/1")


async def test_comments_and_re_runs_come_from_the_pages_too(app: AppClient, pull: PullRequest, hook: Hook) -> None:
    await fill(app, pull)
    run = pull.repository.check_runs()[0]
    async with app.session.post(f"{app.github.web_url}/octo/train/pull/1/comments", data={"body": "/preflight help"}):
        pass
    async with app.session.post(f"{app.github.web_url}/octo/train/pull/1/runs/{run.id}/rerequest"):
        pass
    await app.github.deliveries_settled()

    assert pull.comments[-1].body == "/preflight help"
    assert hook.names[-2:] == ["issue_comment.created", "check_run.rerequested"]


async def test_hidden_comments_and_resolved_threads_are_folded(app: AppClient, pull: PullRequest) -> None:
    await fill(app, pull)
    pull.resolve_thread(pull.review_comments[0].id)

    assert '<details class="thread"' in await page(app, "/octo/train/pull/1")


async def test_a_manifest_leads_to_the_apps_secrets_once(app: AppClient, github: Simulator) -> None:
    manifest = '{"name": "Preflight", "url": "https://example.org", "redirect_url": "https://example.org/setup", "default_events": ["pull_request"]}'
    new_app = f"{github.web_url}/settings/apps/new?state=abc"
    async with app.session.post(new_app, data={"manifest": manifest}, headers={"Origin": "http://other"}, allow_redirects=False) as response:
        location = response.headers["Location"]
    assert location.startswith("https://example.org/setup?code=")
    assert location.endswith("&state=abc")
    code = location.partition("code=")[2].partition("&")[0]

    made = await app.send("POST", f"/app-manifests/{code}/conversions", token="")
    again = await app.send("POST", f"/app-manifests/{code}/conversions", token="")

    assert (made.status, made.json["pem"], made.json["webhook_secret"]) == (201, github.private_key, github.webhook_secret)
    assert again.status == 404
    async with app.session.post(new_app, data={"manifest": '{"url": "x", "redirect": "y"}'}, allow_redirects=False) as response:
        assert response.status == 422
