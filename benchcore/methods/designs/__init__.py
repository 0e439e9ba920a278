"""Random designs with known inclusion probabilities: how many, how likely, and the draw itself."""
