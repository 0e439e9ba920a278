"""Vectors as directions, and which pick each item is nearest to."""
