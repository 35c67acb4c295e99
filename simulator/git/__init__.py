"""Real bare git repositories behind the simulated ones, by way of the git command line."""
