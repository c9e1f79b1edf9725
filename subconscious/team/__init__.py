"""A team's store on PostgreSQL, beside the local one: sends what is shared, and takes in what others share."""
