"""Estimates as people and programs read them: the JSON of ``preflight estimate --format json``, plain text and Markdown."""

from estimator.report.document import document, estimate_document
from estimator.report.markdown import as_markdown
from estimator.report.text import as_text

__all__ = ["as_markdown", "as_text", "document", "estimate_document"]
