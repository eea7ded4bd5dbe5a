"""Statistics behind the learned revisit policy."""
