"""The end of a process that has answered: at once. To free one by one the objects of all that it read would take up to a sixth of its time."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def end(status: int) -> NoReturn:
    """End this process with ``status``, once what it printed is out. Nothing may run in it any more that has something to tidy up."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
