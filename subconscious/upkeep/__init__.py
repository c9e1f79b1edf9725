"""Nightly, weekly and monthly jobs, backups, and restoring a backup."""
