"""Finding: full-text index, ranking, aliases."""
