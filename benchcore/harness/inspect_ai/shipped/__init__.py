"""Files that go into an exported folder as they are; they run in the user's own environment, with Inspect AI."""
