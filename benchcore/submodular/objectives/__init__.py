"""Objectives: set functions of a growing set of picks."""
