"""Picks whose mean in a kernel's space is near that of the pool: the kernel, herding, swaps."""
