"""One file per published table; prints ours beside theirs."""
