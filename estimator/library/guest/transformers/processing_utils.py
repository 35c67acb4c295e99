"""Types of keyword arguments."""

from typing import Any

Unpack = Any
