"""The load that ingestion takes: a made-up corpus of any size, and what reading it needs."""
