"""The demo, as ``make demo ONCE=1`` runs it: a process of its own, since the job engine lives once in a process."""

from __future__ import annotations

import subprocess
import sys

from bot.cli.demo.stage import guest


def test_the_demo_shows_a_whole_review() -> None:
    done = subprocess.run([sys.executable, "-m", "bot.cli", "demo", "--once"], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "Check run Preflight" in done.stdout
    assert "```suggestion" in done.stdout
    assert "**Peak**" in done.stdout


def test_the_change_is_one_a_person_might_propose() -> None:
    base, change = guest("base"), guest("change")

    assert set(change) - set(base) == {"metrics.py"}
    assert all(base.get(path) != text for path, text in change.items())
    for path, text in {**base, **change}.items():
        if path.endswith(".py"):
            compile(text, path, "exec")
