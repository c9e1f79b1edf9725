"""Decides whether a new statement replaces, ends or repeats an older one."""
