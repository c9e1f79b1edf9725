"""The command line. It sends requests to the daemon through ``subconscious.wire`` instead of opening the database."""
