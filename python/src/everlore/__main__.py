"""``python -m everlore``: the command line."""

import sys

from everlore._command import main

sys.exit(main())
