"""Chooses the worker for the next fetch batch: AHP (analytic hierarchy process), or an alternative strategy."""
