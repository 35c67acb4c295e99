"""What torch-preflight says of the same scripts: asked for by its command, or as it was stored."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

_PATIENCE = 120


def asked(command: list[str], folder: Path, script: str) -> dict[str, Any]:
    """The peer's estimate of one script, as the script alone gives it; without bytes where it does not resolve."""
    words = [*command, "estimate", script, "--gpu", "A100-80GB", "-f", "json"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return {"why": (done.stderr or done.stdout).strip()[-200:]}
    if not found.get("resolved") or not found.get("total_bytes"):
        return {"why": str((found.get("model") or {}).get("reason"))[:200]}
    parts = found["breakdown"]
    outside = parts.get("CUDA_context", 0) + parts.get("fragmentation", 0)
    return {"allocated": found["total_bytes"] - outside, "interval": found["interval_bytes"]}


def stored(references: Path) -> dict[str, dict[str, Any]]:
    """The figures in ``peer.json`` by script."""
    rows: dict[str, dict[str, Any]] = json.loads((references / "peer.json").read_text(encoding="utf-8"))["scripts"]
    return rows
