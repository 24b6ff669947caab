"""Candidates: being written."""

from __future__ import annotations

from swag_studio.ui.page import Page


class CandidatesPage(Page):
    """Being written."""

    title = "Candidates"
    stage = "generate"
