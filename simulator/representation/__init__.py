"""The JSON shapes in which GitHub shows its objects, in answers and in webhook payloads alike."""
