"""The analysis in a process of its own: hostile code may exhaust it, and finds neither a secret nor a network there."""
