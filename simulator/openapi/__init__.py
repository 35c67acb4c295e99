"""GitHub's own OpenAPI description, and whether a request or an answer keeps to it."""
