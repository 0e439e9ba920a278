"""Encoding as a cluster schedules it: `ray job submit -- python jobs/embed.py CONF --root URI`."""

from benchcore.cli.jobs import main

if __name__ == "__main__":
    main("embed")
