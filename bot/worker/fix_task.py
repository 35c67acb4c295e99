"""The task behind ``/preflight fix``: the head's files with the fixes applied, as whole files and as a patch."""

from __future__ import annotations

import base64

from analysis.engine import analyse
from analysis.finding import Safety
from analysis.fixes.apply import compatible, fixed, unified_diff
from analysis.rule import discover
from analysis.scope import scope_of
from analysis.selection import configured, select
from analysis.settings import Settings
from bot.review.fixable import SAFE, is_fixable
from bot.review.located import locate
from bot.review.match import Moves, match
from bot.worker.wire import Task

Answer = dict[str, object]

_ANY = frozenset(Safety)


def fix(task: Task, settings: Settings) -> Answer:
    """The safe fixes of what the change introduces; with a rule's name among the arguments those of that rule, whoever introduced it.

    Naming a rule answers the question that an unsafe fix asks, so those are applied then too.
    """
    named = task.arguments[0] if task.arguments else None
    rules = select(discover(), (named,) if named else settings.select, () if named else settings.ignore)
    scope = scope_of(task.base, task.head)
    report = configured(analyse(task.head, rules, scope.paths), settings)
    wanted = report.findings
    if named is None:
        before = configured(analyse(task.base, rules, scope.paths | scope.removed), settings)
        located = [locate(each, task.base) for each in before.findings], [locate(each, task.head) for each in report.findings]
        matched = match(*located, moves=Moves.between(task.base, task.head))
        introduced = {each.fingerprint for each in matched.introduced}
        wanted = tuple(each for each in report.findings if each.fingerprint in introduced)
    safeties = _ANY if named else SAFE
    chosen = [each for each in wanted if is_fixable(each, task.head, safeties)]
    changed = fixed(task.head, chosen, safeties)
    return {
        "files": {path: base64.b64encode(content).decode() for path, content in changed.items()},
        "patch": unified_diff(task.head, changed),
        "rules": sorted({each.rule for each in chosen}),
        "fixes": len(compatible(each.fix for each in chosen if each.fix is not None)),
    }
