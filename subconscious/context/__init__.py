"""What requests and jobs share: spool entries, arguments, events and locks, the approval of settings, and limits."""
