"""Members of the ensemble: style classifiers that score endings."""
