"""A team's store on PostgreSQL: its address, connections, migrations, and all SQL that is sent to the server.

psycopg is imported only when a store is configured and used.
"""
