"""Optimizers: from an objective and a constraint to an order of picks."""
