"""The GitHub App and the command line: the only package that speaks to a network."""
