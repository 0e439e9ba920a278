"""Methods that pick whole tasks from the scores of source models: `features["scores"]` is (tasks, models)."""
