"""The interpreter: it knows Python, not torch. A domain brings what calls from outside mean."""
