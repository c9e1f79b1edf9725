"""The process: one a user, started by a hook, speaking over an owner-only socket."""
