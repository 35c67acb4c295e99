"""The servers: how a request becomes an answer, with faults, limits and records on the way."""
