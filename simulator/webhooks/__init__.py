"""Events of the simulated GitHub, and their delivery to the App."""
