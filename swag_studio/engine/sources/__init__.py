"""Readers of caption files, one file per format."""
