"""The operations of the REST API, one file per subject; each function answers one operation of GitHub's description."""
