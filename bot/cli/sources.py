"""The model libraries whose source can be read, and in which versions.

`preflight sources add NAME==VERSION…` brings a release's wheel without its dependencies and unpacks its Python text as data; nothing of it is
imported or installed. They lie in the folder that `PREFLIGHT_SOURCES_DIR` names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from analysis.nearest import did_you_mean
from bot.cli.listing import listing_parser, print_rows
from bot.cli.outcome import Exit, UsageError
from bot.sources.shelf import LIBRARIES, VERSION, shelf, sources, usual
from bot.sources.wheel import WheelError, add


def run(words: Sequence[str]) -> int:
    """Run ``preflight sources`` and return its exit status."""
    parser = listing_parser("sources", __doc__)
    parser.add_argument("action", nargs="?", choices=("add",), help="bring the releases that follow")
    parser.add_argument("--usual", action="store_true", help="bring the releases that the container ships")
    parser.add_argument("releases", nargs="*", metavar="NAME==VERSION", help=f"of {', '.join(LIBRARIES)}")
    asked = parser.parse_args(words)
    if asked.action == "add":
        _add([*(usual() if asked.usual else ()), *asked.releases])
    print_rows("sources", asked.format, list(_rows()), sys.stdout)
    return Exit.OK


def _add(releases: Sequence[str]) -> None:
    if not releases:
        raise UsageError("sources add needs a release (for example transformers==4.46.0) or --usual")
    for library, version in [_release(words) for words in releases]:
        try:
            add(library, version, shelf())
        except WheelError as error:
            raise UsageError(str(error)) from None


def _release(words: str) -> tuple[str, str]:
    library, equals, version = words.partition("==")
    if library not in LIBRARIES:
        raise UsageError(f"no source of {library!r} is read{did_you_mean(library, LIBRARIES)}; the libraries are {', '.join(LIBRARIES)}")
    if not equals or not VERSION.fullmatch(version):
        raise UsageError(f"{words!r} names no release: write {library}==VERSION, for example {library}==1.2.3")
    return library, version


def _rows() -> Iterator[dict[str, object]]:
    for source in sources():
        yield {"name": source.library, "version": source.version, "origin": source.origin, "path": "" if source.path is None else str(source.path)}
