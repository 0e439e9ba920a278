"""Benchmark-level mode as a cluster schedules it: `python jobs/leaderboard.py select ROOT --leaderboard NAME -k 8`.

ROOT is a registry with a table `leaderboards`; the commands are those of `benchcore leaderboard`.
"""

import sys

from benchcore.cli.leaderboard import app
from benchcore.cli.main import execute

if __name__ == "__main__":
    sys.exit(execute(app, sys.argv[1:], name=sys.argv[0]))
