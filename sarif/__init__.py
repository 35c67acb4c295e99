"""Findings as SARIF 2.1.0, evidence as code flows: what code scanning and editors read."""

from sarif.log import to_sarif

__all__ = ["to_sarif"]
