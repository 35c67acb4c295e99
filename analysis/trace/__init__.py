"""What a program does, written down once: a tree of loops, branches and calls whose leaves are events."""
