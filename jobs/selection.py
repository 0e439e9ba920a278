"""Selection as a cluster schedules it: `ray job submit -- python jobs/selection.py CONF --root URI`.

Not `select.py`: a script's folder comes first on the path, and that name would hide the standard library's `select`.
"""

from benchcore.cli.jobs import main

if __name__ == "__main__":
    main("select")
