"""`python -m sanderling` is the command line."""

import sys

from sanderling.cli import main

sys.exit(main())
