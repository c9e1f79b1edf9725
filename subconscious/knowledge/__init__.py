"""Knowledge of a project: recurring problems, and files that can be read without the daemon."""
