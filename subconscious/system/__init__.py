"""Safe access to files, programs and Git repositories that can't be trusted."""
