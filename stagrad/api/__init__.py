"""What users call: compilation and the transformations of functions."""
