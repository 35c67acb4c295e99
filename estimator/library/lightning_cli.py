"""What ``LightningCLI`` asks the host for: the file that configures the run, and the classes that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.configuration.documents import as_yaml
from analysis.configuration.hydra import located
from analysis.interpreter.values import Call, GuestDict, HostFunction, Value
from analysis.library.knowledge import Subject

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

SUBJECT = Subject()


def _configuration_of_repository(call: Call) -> Value:
    """The YAML file that is named first and there, else the only one that has all the keys; empty settings where there is none."""
    machine, (files, keys) = call.machine, call.args
    named = [name for name in files or () if isinstance(name, str) and machine.open_file(name, call.span).text is not None]
    others = [path for path in sorted(machine.snapshot.contents) if path.endswith((".yaml", ".yml"))] if not named else []
    found = [settings for path in named or others if isinstance(settings := _settings_in(machine, path), dict) and all(key in settings for key in keys)]
    return found[0] if found and (named or len(found) == 1) else GuestDict()


def _settings_in(machine: Machine, path: str) -> Value:
    opened = machine.open_file(path, machine.span)
    return None if opened.text is None else as_yaml(machine, opened.text, opened.text.path)


SUBJECT.values["preflight_host.configuration_of_repository"] = HostFunction("configuration_of_repository", _configuration_of_repository)
SUBJECT.values["preflight_host.located"] = HostFunction("located", lambda call: located(call.machine, call.args[0]))
