"""Removing prompts for good: from every table, and from the old versions that time travel would bring back."""
