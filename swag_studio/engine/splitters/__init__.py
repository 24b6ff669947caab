"""Splitters cut a second sentence after its opening noun phrase."""
