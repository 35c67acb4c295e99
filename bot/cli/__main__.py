"""``python -m bot.cli``: the command line where its script is not on PATH."""

import sys

from bot.cli.main import main

sys.exit(main())
