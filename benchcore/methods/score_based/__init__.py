"""Methods that look at the scores of source models; these must never be the models that are evaluated."""
