"""Files that configure a run, read as data: YAML, JSON and TOML, trees of settings, what Hydra composes of them and the classes that they name.

Both uses of the interpreter read them; what differs is asked of the domain: what a setting stands for, and what is not known.
"""
