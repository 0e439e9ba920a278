"""The report as a cluster schedules it: `python jobs/report.py CONF --root URI`."""

from benchcore.cli.jobs import main

if __name__ == "__main__":
    main("report")
