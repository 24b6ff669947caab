"""Writers of release files, one file per format."""
