"""What is to be visited: the queue on disk, leases with fencing tokens, politeness per host and per address.

Candidates come in, itineraries go out, visits come back and close their leases. States: queued -> leased -> visited,
skipped, failed or gone; a lost lease is queued again.
"""
