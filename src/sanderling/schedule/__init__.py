"""Who goes: which migrant gets the next itinerary. AHP, and its rivals behind one seam."""
