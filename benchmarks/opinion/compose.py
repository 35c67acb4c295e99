"""Run by a Python that has the Compose specification: reads the file that is the only argument, and says what does not fit."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml
from compose_spec import PyCompose


def problem(path: Path) -> str:
    """What the specification does not take; "" where it takes everything. Anchors are resolved here, as Compose does."""
    try:
        PyCompose.from_json(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")))).validate()
    except (ValueError, TypeError) as error:
        return str(error)
    return ""


if __name__ == "__main__":
    found = problem(Path(sys.argv[1]))
    print(found or "the services are what Compose takes")
    sys.exit(1 if found else 0)
