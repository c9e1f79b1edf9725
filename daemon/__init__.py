"""The daemon process: one per user, started by a hook, serving requests on a socket that only its owner can use."""
