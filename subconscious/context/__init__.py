"""Values that requests and jobs share: spool entries, arguments, signals, approval of guarded settings."""
