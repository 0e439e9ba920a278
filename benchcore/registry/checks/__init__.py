"""Whether the tables of a registry are as they should be: every invariant, and what mends it."""
