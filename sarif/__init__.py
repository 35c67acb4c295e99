"""Findings as SARIF 2.1.0, evidence as code flows."""
