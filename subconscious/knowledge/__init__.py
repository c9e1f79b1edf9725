"""Knowledge of a project: recurring trouble, and files rendered for reading without the daemon."""
