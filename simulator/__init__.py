"""A GitHub on your own machine: for the demo and the tests."""
