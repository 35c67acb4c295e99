"""A small project and a finding in it, as the tests of the command line show and patch it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analysis.finding import Confidence, Edit, Evidence, Finding, Fix, Safety, Severity
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span

FILES = {
    "loop.py": b"from model import step\n\nlosses = []\nfor batch in loader:\n\tloss = step(batch)\n\tlosses.append(loss)\n",
    "model.py": b"def step(batch):\n    return net(batch).mean()\n",
}


def write(folder: Path, files: dict[str, bytes] | None = None) -> Path:
    """Write ``files`` below ``folder``."""
    for path, content in (FILES if files is None else files).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def span(snapshot: Snapshot, path: str, text: str) -> Span:
    """Where ``text`` first stands in ``path``."""
    source = snapshot.source(path)
    assert isinstance(source, SourceFile)
    start = source.content.index(text.encode())
    return Span(path, start, start + len(text.encode()))


def retained_graph(snapshot: Snapshot, **changes: Any) -> Finding:
    """The finding that ``losses`` in ``loop.py`` keeps graphs, with its safe fix."""
    kept = span(snapshot, "loop.py", "losses.append(loss)")
    argument = Span("loop.py", kept.end - len("loss)"), kept.end - 1)
    values: dict[str, Any] = {
        "rule": "retained-graph",
        "severity": Severity.ERROR,
        "confidence": Confidence.HIGH,
        "span": kept,
        "message": "`losses` keeps the graph of every step",
        "evidence": (
            Evidence(span(snapshot, "model.py", "net(batch).mean()"), "the loss carries its graph"),
            Evidence(kept, "and outlives the step"),
        ),
        "fix": Fix("store a detached value", Safety.SAFE, (Edit(argument, "loss.detach()"),)),
        "fingerprint": "f1",
    }
    return Finding(**{**values, **changes})
