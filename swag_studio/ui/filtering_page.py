"""Filtering: being written."""

from __future__ import annotations

from swag_studio.ui.page import Page


class FilteringPage(Page):
    """Being written."""

    title = "Filtering"
    stage = "filter"
