"""Run the publisher without the rest of Sanderling: `python -m sanderling.publisher`."""

import sys

from sanderling.publisher.cli import main

if __name__ == "__main__":
    sys.exit(main())
