"""SWAG Studio: build adversarial multiple-choice datasets from video captions."""

__version__ = "0.1.0"
