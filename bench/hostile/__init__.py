"""Hostile folders, files, clocks and disks, tried against the real product."""
