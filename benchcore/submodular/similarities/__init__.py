"""Similarities of candidates and represented rows, by name or given."""
