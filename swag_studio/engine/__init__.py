"""The engine: stages as generators of events. No Qt, no SQL."""
