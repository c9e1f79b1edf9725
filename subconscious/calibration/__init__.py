"""Calibration: learns from people's decisions how often captures with a certain stated confidence were right."""
