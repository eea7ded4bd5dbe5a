"""`python -m experiments list|NAME...|all [--write]`."""

import sys

from experiments.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
