"""Settings, fixed values and the state folder."""
