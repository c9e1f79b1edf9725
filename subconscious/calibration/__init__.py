"""Calibration: how often captures of a stated confidence were right, learned from decisions."""
