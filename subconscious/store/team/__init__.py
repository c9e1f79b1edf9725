"""A team's store on PostgreSQL: its address, the connection, its migrations, and all SQL that is sent to it.

Nothing of psycopg is imported before a store is configured and used.
"""
