"""Selection at the size of a large organization's registry: a made-up one, and what is promised about it."""
