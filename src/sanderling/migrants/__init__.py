"""The trip: guard, robots, fetch, parse, pack. Itineraries come in, parcels go out; runs the same anywhere."""
