"""The filter runs of a project: their points, what sets their recipes apart, and a list to overlay.

It knows metrics and recipes, not charts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QVBoxLayout, QWidget

from swag_studio.errors import RecipeError
from swag_studio.events import Metric
from swag_studio.evidence import MEMBERS
from swag_studio.project import Project
from swag_studio.recipe import Recipe, from_toml
from swag_studio.records import Artifact
from swag_studio.series import smoothed
from swag_studio.ui.forms import readable, text_of
from swag_studio.ui.page import set_role
from swag_studio.ui.words import count

STAGE = "filter"
ENSEMBLE, PROBE, FIRST_MEMBER = "ensemble", "probe", "mlp"
WAYS = ("accuracy_4way", "accuracy")

Series = tuple[str, str, str]
"""(name, arm, member) of a filter metric; "" where it has no such tag."""


class RunPoints:
    """The points of one run. A step of a series has one value, however often it is told."""

    def __init__(self, metrics: Iterable[Metric] = ()) -> None:
        self._values: dict[Series, dict[int, float]] = defaultdict(dict)
        self.put(metrics)

    def put(self, metrics: Iterable[Metric]) -> None:
        """Adds points; those of other stages are passed over."""
        for m in metrics:
            if m.stage == STAGE:
                self._values[series_of(m)][m.step] = m.value

    def series(self) -> list[Series]:
        return sorted(self._values)

    def has(self, metric: Metric) -> bool:
        """Whether exactly this point is there."""
        return self._values.get(series_of(metric), {}).get(metric.step) == metric.value

    def values(self, name: str, member: str = "", arm: str = "main") -> list[tuple[int, float]]:
        """(step, value), ascending."""
        return sorted(self._values.get((name, arm, member), {}).items())

    def latest(self, name: str, member: str) -> float | None:
        """The last smoothed value of the main arm, None where there is none."""
        values = [value for _, value in self.values(name, member)]
        return float(smoothed(values)[-1]) if values else None

    def members(self) -> list[str]:
        """The heads with a curve in the order of the ensemble's members, the ensemble first."""
        heads = {member for name, arm, member in self._values if name in WAYS and arm == "main"}
        heads -= {PROBE}
        known = [ENSEMBLE, "mlp", "bow", "cnn", "pos"]
        return [m for m in known if m in heads] + sorted(heads.difference(known))

    @property
    def head(self) -> str:
        """The head that counts: the ensemble's, or that of the only member."""
        return next(iter(self.members()), ENSEMBLE)

    @property
    def control(self) -> str:
        """The head whose control arm is drawn: the ensemble's, also while the MLP is alone."""
        return ENSEMBLE if (WAYS[0], "control", ENSEMBLE) in self._values else self.head

    @property
    def iterations(self) -> int:
        """How many iterations have been measured."""
        steps = {step for m in self.members() for step in self._values[WAYS[0], "main", m]}
        return len(steps)

    @property
    def joined(self) -> int | None:
        """The iteration where all members join the MLP; None before, or without an MLP phase."""
        others = [self.values(WAYS[0], m) for m in self.members() if m != FIRST_MEMBER]
        first = min((values[0][0] for values in others if values), default=0)
        return first or None

    def metrics(self) -> list[Metric]:
        """All points as metrics again."""
        return [
            Metric(STAGE, name, step, value, _tags(arm, member))
            for (name, arm, member), values in sorted(self._values.items())
            for step, value in sorted(values.items())
        ]


def series_of(metric: Metric) -> Series:
    """The series that a metric belongs to."""
    return metric.name, metric.tags.get("arm", ""), metric.tags.get("member", "")


def _tags(arm: str, member: str) -> dict[str, str]:
    return {k: v for k, v in (("arm", arm), ("member", member)) if v}


@dataclass
class FilterRun:
    """One version of the stage: its artifact, its recipe (None where unreadable), its points."""

    artifact: Artifact
    recipe: Recipe | None
    points: RunPoints = field(default_factory=RunPoints)

    @classmethod
    def of(cls, artifact: Artifact, metrics: Iterable[Metric]) -> FilterRun:
        try:
            recipe = from_toml(artifact.recipe)
        except RecipeError:  # of another version of the program
            recipe = None
        return cls(artifact, recipe, RunPoints(metrics))

    @property
    def version(self) -> int:
        return self.artifact.version

    @property
    def chances(self) -> dict[str, float]:
        """Metric -> the accuracy of guessing."""
        distractors = self.recipe.filter.distractors if self.recipe else 9
        return {"accuracy_4way": 0.25, "accuracy": 1 / (distractors + 1)}


# --- words ---------------------------------------------------------------------------------------

_SECTIONS = {"lm": "language model ", "run": "", "prepare": "", "generate": "", "filter": ""}


def differences(run: FilterRun, shown: FilterRun) -> str:
    """How a run's recipe differs from the shown one's: "replace 1 instead of 2; seed 2 ..."."""
    if run.recipe is None or shown.recipe is None:
        return "its recipe is of another version of the program"
    changes = run.recipe.changes(shown.recipe)
    parts = []
    for key, (mine, theirs) in changes.items():
        section, _, name = key.partition(".")
        if section in _SECTIONS:  # the filter does not see the others
            label = _SECTIONS[section] + _lowered(readable(name))
            mine, theirs = (tuple(v) if isinstance(v, list) else v for v in (mine, theirs))
            parts.append(f"{label} {text_of(mine)} instead of {text_of(theirs)}")
    return (
        "; ".join(parts)
        or "the same recipe, on other captions or by another version of the program"
    )


def _lowered(label: str) -> str:
    return label if label[:2].isupper() else label[0].lower() + label[1:]


def described(run: FilterRun, *, running: bool = False) -> str:
    """ "done, 60 iterations, ensemble 30%"."""
    state = "running" if running else "done" if run.artifact.done else "interrupted"
    text = f"{state}, {count(run.points.iterations, 'iteration')}"
    head = run.points.head
    last = run.points.latest(WAYS[0], head)
    return text if last is None else f"{text}, {MEMBERS.get(head, head)} {last:.0%}"


# --- list ----------------------------------------------------------------------------------------


def read_runs(
    project: Project, known: Iterable[int], sought: Metric | None
) -> tuple[list[FilterRun], int | None]:
    """(the runs that are not `known`, the newest of them that has the point `sought`).

    A done run never changes, so that it is read once.
    """
    store, passed = project.store, set(known)
    runs = [
        FilterRun.of(artifact, store.metrics("filter", artifact.version))
        for artifact in store.artifacts("filter")
        if artifact.version not in passed
    ]
    has = (run.version for run in reversed(runs) if sought is not None and run.points.has(sought))
    return runs, next(has, None)


class RunsPanel(QWidget):
    """A line per run, newest first: the shown one in words, the others with a box to overlay."""

    toggled = Signal(int, bool)  # version, on

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        heading = QLabel("Runs to compare")
        set_role(heading, "heading")
        self._lines = QVBoxLayout()
        self._lines.setSpacing(2)
        self.boxes: dict[int, QCheckBox] = {}
        self._lines_of: dict[int, QLabel | QCheckBox] = {}
        self._notes: dict[int, QLabel] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(heading)
        layout.addLayout(self._lines)
        layout.addStretch(1)

    def show_runs(self, runs: Sequence[FilterRun], shown: int, running: int | None) -> None:
        """Shows the runs. Lines stay where they are while the runs are the same."""
        wanted = [run.version for run in reversed(runs)]
        if list(self._lines_of) != wanted or shown in self.boxes or shown not in self._lines_of:
            self._rebuild(wanted, shown)
        by_version = {run.version: run for run in runs}
        for version, run in by_version.items():
            text = described(run, running=version == running)
            if version != shown:
                difference = differences(run, by_version[shown])
                text += f". {difference[:1].upper()}{difference[1:]}"
            self._notes[version].setText(f"{text[:1].upper()}{text[1:]}.")
            self._lines_of[version].setAccessibleDescription(self._notes[version].text())

    @property
    def overlaid(self) -> list[int]:
        """The versions whose box is ticked."""
        return sorted(version for version, box in self.boxes.items() if box.isChecked())

    def _rebuild(self, versions: Sequence[int], shown: int) -> None:
        ticked = set(self.overlaid)
        while item := self._lines.takeAt(0):
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.boxes.clear()
        self._lines_of.clear()
        self._notes.clear()
        for version in versions:
            line = self._lines_of[version] = (
                QLabel(f"Run {version}, shown here")
                if version == shown
                else QCheckBox(f"Run {version}")
            )
            note = self._notes[version] = QLabel()
            note.setTextFormat(Qt.TextFormat.PlainText)
            note.setWordWrap(True)
            note.setContentsMargins(0 if version == shown else 24, 0, 0, 6)
            set_role(note, "muted")
            if isinstance(line, QCheckBox):
                line.setChecked(version in ticked)
                line.setToolTip("Draw this run's curves beside the shown ones, thin and dashed")
                line.toggled.connect(lambda on, v=version: self.toggled.emit(v, on))
                self.boxes[version] = line
            else:
                set_role(line, "strong")
            self._lines.addWidget(line)
            self._lines.addWidget(note)
