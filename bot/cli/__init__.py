"""The command line: one file per command, found by its name in ``bot.cli.main``."""
