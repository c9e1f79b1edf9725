"""Hostile folders, files, clocks and disks: what the product promises to survive, each promise tried for real."""
