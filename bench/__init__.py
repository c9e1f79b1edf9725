"""What the README's numbers come from. Each script says in its docstring what it measures and how to run it."""
