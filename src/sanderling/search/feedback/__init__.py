"""What users teach: events in, page weights and briefs out.

A result page logs the ranking it showed under a query id; the tracker logs what was done with it, in the names of User
Behavior Insights. `learn` turns both into weights between -1 and 1 that search applies and explains, and a search that
did not satisfy into a brief for specialised migrants. Nothing here knows an address of a network.

    records   events, rankings, actions and their numbers      weights   clicks freed from position bias, and trust
    log       the database of it: retention, export, erasure   apriori   frequent sets of actions, page weights
    learn     from the log to weights, and back to search      briefs    what to look for more of
"""
