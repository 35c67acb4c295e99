"""The source of model libraries, kept as data on this machine: brought as wheels, unpacked, read, and never imported."""
