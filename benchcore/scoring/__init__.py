"""From stored scores on the picks of a coreset to scores of the whole: estimates, comparisons, alarms."""
