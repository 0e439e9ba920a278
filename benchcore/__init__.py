"""benchcore: a few prompts that stand for a whole registry of benchmarks."""

__version__ = "0.1.0"
