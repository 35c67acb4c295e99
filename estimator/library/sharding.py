"""What the guest sources of frameworks ask of the host about sharding: over how many devices, by which strategy, what lies in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis.configuration.documents import of_file
from analysis.interpreter.values import Call, HostFunction, Symbol, Value
from estimator.library.language import domain_of
from estimator.tape.events import rounded

if TYPE_CHECKING:
    from estimator.script.domain import TapeDomain

#: The most devices that are believed: more is a mistake, or a cluster that no single estimate is about.
_MOST_DEVICES = 65_536


def _noted_sharding(call: Call) -> Value:
    """A framework shards by a strategy; further keywords are fields of the layout."""
    domain, (strategy, *_) = domain_of(call), call.args
    if strategy in {None, "none"}:
        return None
    domain.observed.fact("sharding", strategy, domain.caller_place())
    domain.observed.layout.update({name: value for name, value in call.kwargs.items() if isinstance(value, (bool, int))})
    if strategy != "ddp" and not _known_devices(domain):
        words = f"{strategy} shards over a number of devices that is not known: what is shown is one device with everything"
        domain.observed.unknowns[f"{domain.caller_place()}: {words}; give --devices, or start it with a launcher in a script of the repository"] = None
    return None


def _noted_unit(call: Call) -> Value:
    """The parameters of a part that is gathered at once, without those of parts named before; what is named last is the whole."""
    observed = domain_of(call).observed
    fresh = [each for each in call.args[0] if id(each) not in observed.units]
    observed.units.update((id(each), each) for each in fresh)
    layout = observed.layout
    layout["block"] = max(layout.get("block", 0), layout.get("root", 0))
    layout["root"] = sum(rounded(each.numel() * each.itemsize) for each in fresh)
    return None


def _known_devices(domain: TapeDomain) -> bool:
    return "devices" in domain.request.overrides or domain.observed.first("devices")[0] is not None


def _noted_devices(call: Call) -> Value:
    """A framework is told how many devices train together."""
    domain, count = domain_of(call), call.args[0]
    if isinstance(count, str) and count.isdigit():
        count = int(count)
    if isinstance(count, int) and not isinstance(count, bool) and 0 < count <= _MOST_DEVICES and "devices" not in domain.request.overrides:
        domain.observed.fact("devices", count, domain.caller_place())
    return None


def _document(call: Call) -> Value:
    """A configuration of the repository as a dictionary: the value itself if it is one, a JSON or YAML file by its path; None where it is neither."""
    given, domain = call.args[0], domain_of(call)
    if isinstance(given, dict) or given is None:
        return given
    found = of_file(call, given) if isinstance(given, str) else None
    if isinstance(found, dict):
        return found
    words = f"the configuration {given}" if isinstance(given, str) else domain.said(given)
    domain.observed.unknowns[f"{domain.caller_place()}: {words} is not in the repository, so how it shards is not known"] = None
    return None


def _launch_configuration(call: Call) -> Value:
    """The configuration that ``accelerate launch`` was given on the line that starts the script; None where none is."""
    path = domain_of(call).request.launcher.get("config_file")
    return None if path is None else _document(Call(call.machine, [path], {}, call.span))


def _launch_precision(call: Call) -> Value:
    """The precision on the line that starts the script; None where it says nothing."""
    return domain_of(call).request.launcher.get("mixed_precision")


def _is_known(call: Call) -> Value:
    """Whether a value is one that the source tells."""
    return not isinstance(call.args[0], Symbol)


NAMES: dict[str, Any] = {
    f"preflight_host.{function.__name__[1:]}": HostFunction(function.__name__[1:], function)
    for function in (_noted_sharding, _noted_unit, _noted_devices, _document, _launch_configuration, _launch_precision, _is_known)
}
