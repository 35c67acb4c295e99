"""Making the GitHub App: a page that fills in its manifest, and the credentials that GitHub answers with."""
