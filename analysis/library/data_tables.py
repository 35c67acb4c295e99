"""Data sets of Hugging Face's ``datasets``: tables whose methods give new tables. Known by where they come from, or by what is done to them."""

from __future__ import annotations

from analysis.interpreter.values import Symbol, Value
from analysis.library.casting import Castable
from analysis.library.roles import uses_of

_NEW = """
shuffle map filter select sort shard train_test_split rename_column rename_columns remove_columns select_columns cast cast_column with_format with_transform
add_column flatten_indices take skip
"""
_UNIQUE = """
set_format with_format reset_format set_transform with_transform train_test_split remove_columns rename_column rename_columns select_columns cast_column
add_column flatten_indices .column_names .num_rows
"""
#: Methods that give a new table and leave theirs as it was.
RETURNING = frozenset(_NEW.split())
#: Methods and attributes that only such a table has.
_OWN = frozenset(_UNIQUE.split())
#: Functions that make or read one.
_FACTORIES = ("load_dataset()", "load_from_disk()", "concatenate_datasets()", "interleave_datasets()")


def dropped_table(value: Value) -> tuple[Symbol, str] | None:
    """The table, and the method, of a call that gave ``value``, if it is one that may give a new table."""
    if isinstance(value, Castable) and isinstance(value.callee, Castable) and value.callee.whole is not None:
        name = value.callee.key.removeprefix(".")
        return (value.callee.whole, name) if name in RETURNING else None
    return None


def is_table(value: Value, dropped: str) -> bool:
    """Whether ``value`` surely is such a table, for all that was done to it besides calling ``dropped``."""
    if not isinstance(value, Symbol):
        return False
    return value.why.endswith(_FACTORIES) or not (uses_of(value) & _OWN).isdisjoint(_OWN - {dropped})
