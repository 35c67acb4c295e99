"""What is not Python and says how a script is started: shell and Slurm scripts, Makefiles, Dockerfiles, workflow files."""
