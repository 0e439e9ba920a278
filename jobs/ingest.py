"""Ingestion as a cluster schedules it: `spark-submit jobs/ingest.py CONF --root URI`.

The same step as `benchcore ingest`, but in this process: it is the one that spark-submit started for it.
"""

from benchcore.cli.jobs import main

if __name__ == "__main__":
    main("ingest", isolate=False)
