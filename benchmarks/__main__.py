"""``python -m benchmarks NAME …``: one file each, found by being there."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(words: list[str]) -> int:
    """Run the benchmark that the first word names, with the rest as its own arguments."""
    names = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))
    if not words or words[0] not in names:
        print(f"Name one of: {', '.join(names)}", file=sys.stderr)
        return 2
    sys.argv = words
    runpy.run_module(f"benchmarks.{words[0]}", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
