"""The window. Knows records and events; torch and spaCy stay in the engine's thread."""
