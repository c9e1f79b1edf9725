"""Calibration: how often captures with a stated confidence were right, learned from people's decisions."""
