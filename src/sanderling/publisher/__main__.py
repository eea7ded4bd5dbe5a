"""`python -m sanderling.publisher`: for those who installed nothing else."""

import sys

from sanderling.publisher.cli import main

if __name__ == "__main__":
    sys.exit(main())
