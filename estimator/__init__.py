"""The GPU memory of a training run, read from its source: configuration, tape, timeline, fit and comparison."""
