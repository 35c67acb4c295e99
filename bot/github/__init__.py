"""GitHub: authentication, limits, reading snapshots economically, writing results so that nothing is written twice."""
