"""Memory limits and signal handling of the process."""
