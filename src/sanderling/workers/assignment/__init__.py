"""Chooses the worker for the next fetch batch: AHP (analytic hierarchy process), or an alternative strategy.

    strategy(worker states, host) -> worker id

- `ahp`, `criteria`, `ahp_strategy`: pairwise comparison matrices, measured criteria, and the choice with its scores
- `strategies`, `fuzzy`, `strategy_registry`: alternatives to AHP, and construction from settings
- `worker_assignment`, `worker_stats`: tasks and measurements of all workers
- `change_rate_sets`: workers reserved for pages that change often
- `report`: explanation of the last choice
"""
