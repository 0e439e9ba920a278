"""Passes over all pairs of candidates and represented rows, as facility location needs them for large inputs."""
