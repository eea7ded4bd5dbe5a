"""One file per hot path; each measures us and peers in the same run and prints a ratio."""
