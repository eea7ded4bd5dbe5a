"""When to come back: change rates, policies, budget. Pure functions of what was seen and the time."""
