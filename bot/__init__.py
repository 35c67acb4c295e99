"""The GitHub App and the command line: the only package that reads files, starts processes and speaks to a network."""
