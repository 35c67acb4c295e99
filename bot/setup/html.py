"""The pages of the setup, without a line of script."""

from __future__ import annotations

import html
import json

from bot.setup.credentials import Credentials
from bot.setup.manifest import Choices, permissions

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Set up Preflight</title>
<style>
body{{font:17px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color:#1f2328}}
label{{display:block;margin:1rem 0 .25rem}} input[type=text],input[type=url]{{font:inherit;width:100%;padding:.4rem .6rem;box-sizing:border-box}}
button{{font:inherit;margin-top:1.5rem;padding:.5rem 1.2rem;background:#1f883d;color:#fff;border:0;border-radius:6px;cursor:pointer}}
small,.why{{color:#59636e}} label small{{display:block;margin-left:1.6rem}}
table{{border-collapse:collapse;width:100%}} td{{padding:.3rem .6rem .3rem 0;border-top:1px solid #d1d9e0;vertical-align:top}}
td code{{white-space:nowrap}} .error{{background:#ffebe9;padding:.6rem 1rem;border-radius:6px}} code{{background:#eff1f3;padding:.1rem .3rem;border-radius:4px}}
</style>
<h1>Set up Preflight</h1>
{content}
</html>
"""

_WHY = {
    "metadata": "what every App has; who may use a command",
    "contents": "the code of base and head",
    "pull_requests": "the review with its suggestions, the memory comment, the answers",
    "checks": "the check run and its annotations",
    "merge_queues": "to be told of merge groups, whose commits need the check too",
    "security_events": "findings as code scanning alerts, in repositories that set sarif = true",
}
_COMMITS = "the code of base and head, and commits that somebody asks for with /preflight fix"


def asking(key: str, error: str = "") -> str:
    """The form: where GitHub reaches this server, whose App it is, what it may do beyond the least."""
    said = f'<p class="error">{html.escape(error)}</p>' if error else ""
    return _PAGE.format(
        content=f"""{said}
<p>This makes a GitHub App of your own and writes its credentials here. Nothing is sent anywhere but to GitHub.</p>
<form method="get" action="/setup">
<input type="hidden" name="key" value="{html.escape(key)}">
<label for="address">Address under which GitHub reaches this server</label>
<input id="address" name="address" type="url" required placeholder="https://preflight.example.com">
<small>GitHub delivers to this address with <code>/webhook</code> behind it; it does not deliver to localhost.</small>
<label for="organization">Organization that is to own the App</label>
<input id="organization" name="organization" type="text" pattern="[A-Za-z0-9-]+"> <small>Leave it empty for your own account.</small>
<p><label><input type="checkbox" name="commits" value="yes"> Let <code>/preflight fix</code> commit
<small>(contents: write; without it the patch comes in the answer)</small></label>
<label><input type="checkbox" name="scanning" value="yes"> Upload to code scanning <small>(security_events: write)</small></label></p>
<button>Continue</button>
</form>"""
    )


def confirming(choices: Choices, manifest: dict[str, object], target: str) -> str:
    """What the App will ask for, and the button that sends the manifest to GitHub at ``target``."""
    why = {**_WHY, **({"contents": _COMMITS} if choices.commits else {})}
    rows = "".join(
        f"<tr><td><code>{html.escape(name)}: {html.escape(level)}</code></td><td class=why>{html.escape(why[name])}</td></tr>"
        for name, level in permissions(choices).items()
    )
    return _PAGE.format(
        content=f"""<p>The App will ask whoever installs it for</p>
<table>{rows}</table>
<form method="post" action="{html.escape(target)}">
<input type="hidden" name="manifest" value="{html.escape(json.dumps(manifest))}">
<button>Create it on GitHub</button>
</form>"""
    )


def finished(credentials: Credentials, key_file: str) -> str:
    """The App is made; where to install it."""
    page = html.escape(f"{credentials.page}/installations/new")
    return _PAGE.format(
        content=f"""<p>The App <code>{html.escape(credentials.slug)}</code> is made.
Its key is in <code>{html.escape(key_file)}</code>, the rest in <code>.env</code>.</p>
<p>The server is starting with them. <a href="{page}">Install the App on a repository</a>, then open a pull request.</p>"""
    )
