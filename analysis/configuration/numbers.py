"""Numbers as OmegaConf reads them: ``1e-5`` is one, though YAML 1.1 takes it for a text."""

from __future__ import annotations

import re

from analysis.interpreter.values import Value

_FLOAT = re.compile(r"[-+]?(?:\d[\d_]*\.?[\d_]*|\.[\d_]+)[eE][-+]?\d+")


def with_floats(settings: Value) -> Value:
    """The same tree, changed in place, with numbers for the texts that are meant as such."""
    for key, value in settings.items() if isinstance(settings, dict) else enumerate(settings) if isinstance(settings, list) else ():
        if isinstance(value, str) and _FLOAT.fullmatch(value):
            settings[key] = float(value)
        elif isinstance(value, (dict, list)):
            with_floats(value)
    return settings
