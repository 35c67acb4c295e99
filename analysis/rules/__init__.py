"""One file per rule; a file here is found by being here."""
