"""What a program saved in a folder is what it loads from there."""

OBJECTS = {}


def save(kind, path, made):
    OBJECTS[(kind, str(path))] = made


def saved(kind, path):
    """What was saved there; None where nothing was."""
    return OBJECTS.get((kind, str(path)))
