"""Memory before and after: which entry points a change can move, and their estimates on either side."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from analysis.certainty import Unknown
from analysis.consulted import Watched
from analysis.facts import Facts, is_test
from analysis.globs import matches_any
from analysis.index import index
from analysis.scope import Scope
from analysis.settings import EntrySettings, Settings
from analysis.snapshot import Snapshot
from bot.cli.outcome import UsageError
from bot.cli.parser import Parser
from bot.estimate_options import add_options, request_of
from bot.review.kept import Kept, Seen
from bot.review.result import EstimatePair
from bot.review.sizes import counted
from estimator.estimate import Estimate
from estimator.request import Request
from estimator.run import estimate
from estimator.sources import Shelf

#: More entry points than this share so much code that one of them tells the story; ``entry-points`` chooses others.
_MOST = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """The requests of the entry points whose memory is told, and sentences about what is not asked for."""

    requests: tuple[Request, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The estimates, and sentences about what could not be estimated."""

    pairs: tuple[EstimatePair, ...]
    problems: tuple[str, ...]


def asked_of(head: Snapshot, scope: Scope, settings: Settings, kept: Kept, shelf: Shelf | None) -> Asked:
    """The requests for the entry points in ``scope``, each for one start."""
    entries = entry_points(head, scope, settings, kept.facts)
    chosen = sorted(sorted(entries, key=_order(head, scope, kept.facts))[:_MOST])
    problems = [f"Memory was estimated for {_MOST} of {counted(len(entries), 'entry point')}; `entry-points` chooses them."] if len(entries) > _MOST else []
    requests = [_request(entry, settings.of_entry(entry), shelf) for entry in chosen]
    return Asked(tuple(request for request, _ in requests), (*problems, *(problem for _, problem in requests if problem)))


def estimate_pairs(asked: Asked, kept: Kept, on_base: Callable[[], Sequence[Told]], on_head: Callable[[], Sequence[Told]]) -> Pairs:
    """Estimates on either side; files that train nothing are left out. The two give what ``told_of`` does; the base is asked for once the head was told."""
    after = on_head()
    pairs: list[EstimatePair] = []
    problems = list(asked.problems)
    for request, left, right in zip(asked.requests, on_base(), after, strict=True):
        if not left.problem:
            kept.keep(left.seen)
        problems += [told.problem for told in (left, right) if told.problem]
        both = zip_longest(left.seen.estimates, right.seen.estimates)
        pairs += [EstimatePair(str(request.entry), before, now) for before, now in both if _trains(before) or _trains(now)]
    return Pairs(tuple(pairs), tuple(dict.fromkeys(problems)))


def entry_points(head: Snapshot, scope: Scope, settings: Settings, store: MutableMapping[str, Facts]) -> tuple[str, ...]:
    """The configured entry points in ``scope``; without configuration the files that no other one imports, tests apart."""
    if settings.entry_points:
        return tuple(path for path in sorted(scope.entries) if matches_any(path, settings.entry_points))
    importers = index(head, store).importers
    entries = [path for path in sorted(scope.entries) if not is_test(path)]
    return tuple([path for path in entries if not importers.get(path)] or entries)


def estimates_of(snapshot: Snapshot, settings: Settings, store: MutableMapping[str, Facts], shelf: Shelf | None) -> Iterator[Estimate]:
    """Estimates of the entry points that have cards to be held against."""
    for entry in islice((path for path in _all_entry_points(snapshot, settings, store) if settings.of_entry(path).gpus), _MOST):
        yield from _estimates(snapshot, _request(entry, settings.of_entry(entry), shelf)[0], [])


def remember(snapshot: Snapshot, settings: Settings, kept: Kept, shelf: Shelf | None = None) -> None:
    """Estimate the entry points of a commit from which pull requests will start, and keep what they gave."""
    for entry in islice(_all_entry_points(snapshot, settings, kept.facts), _MOST):
        told = _told(snapshot, _request(entry, settings.of_entry(entry), shelf)[0], kept)
        if not told.problem:
            kept.keep(told.seen)


def _all_entry_points(snapshot: Snapshot, settings: Settings, store: MutableMapping[str, Facts]) -> Iterator[str]:
    """Those configured, else the files that train and that no other one imports."""
    built = index(snapshot, store)
    if settings.entry_points:
        return (path for path in sorted(built.facts) if matches_any(path, settings.entry_points))
    return (path for path, facts in sorted(built.facts.items()) if facts.trains and not is_test(path) and not built.importers.get(path))


def _order(head: Snapshot, scope: Scope, store: MutableMapping[str, Facts]) -> Callable[[str], tuple[bool, bool, str]]:
    """Those that train themselves first, then those that were changed: only the first are estimated."""
    facts = index(head, store).facts
    return lambda path: (path not in facts or not facts[path].trains, path not in scope.changed, path)


def _request(entry: str, configured: EntrySettings, shelf: Shelf | None) -> tuple[Request, str]:
    """The request for one entry point; a card that is not in the catalog is reported, and the rest goes on without cards."""
    try:
        return request_of(_no_options(), configured, entry=entry, shelf=shelf), ""
    except UsageError as error:
        return request_of(_no_options(), replace(configured, gpus=()), entry=entry, shelf=shelf), f"The configured cards are not used: {error}"


def _no_options() -> argparse.Namespace:
    parser = Parser("estimate", None)
    add_options(parser)
    return parser.parse_args([])


@dataclass(frozen=True, slots=True)
class Told:
    """The estimates of one request on one commit, and the sentence that says why there are none."""

    seen: Seen
    problem: str = ""


def told_of(snapshot: Snapshot, requests: Sequence[Request], kept: Kept) -> tuple[Told, ...]:
    """The estimates of ``snapshot``, from what is known where that holds; the other side is answered by them too where it shows the same."""
    told = tuple(_told(snapshot, request, kept) for request in requests)
    kept.expect(each.seen for each in told if not each.problem)
    return told


def _told(snapshot: Snapshot, request: Request, kept: Kept) -> Told:
    known = kept.of(snapshot, request)
    if known is not None:
        return Told(known)
    contents, problems = Watched(snapshot.contents), list[str]()
    estimates = _estimates(snapshot.seen_through(contents), request, problems)
    return Told(Seen.by(request, snapshot, contents, estimates), "".join(problems))


def _estimates(snapshot: Snapshot, request: Request, problems: list[str]) -> tuple[Estimate, ...]:
    if request.entry not in snapshot.contents:
        return ()
    try:
        return estimate(snapshot, replace(request, every_start=False))  # one start of each side is compared
    except Exception as error:  # noqa: BLE001  # findings must not be lost because a number cannot be told
        problems.append(f"The memory of {request.entry} could not be estimated: {type(error).__name__}: {error}")
        return ()


def _trains(found: Estimate | None) -> bool:
    """Whether a model was seen there, its memory resolved or not."""
    return found is not None and (found.memory is not None or not isinstance(found.config.model, Unknown))
