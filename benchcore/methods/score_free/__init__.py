"""The methods that look at no model's score, one file each."""
