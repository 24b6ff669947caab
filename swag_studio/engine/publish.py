"""Writes a verified release: releases/1.0.0 with data, provenance, manifest and dataset card.

It has questions chosen, checked, exported and traced over one file of questions, so that no list
of them is in memory. The folder appears whole, by one rename, and is never written to again; a
release that was killed leaves nothing under its name. The draft is the stage release's.

The same project gives the same bytes, but for run.json.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
import tomllib
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from swag_studio import __version__, pay, settings
from swag_studio.engine import accounting, manifests
from swag_studio.engine.dataset_card import card
from swag_studio.engine.earlier import feedback_told
from swag_studio.engine.provenance import Names, Provenance, policy_id, said
from swag_studio.engine.questions import WRONG, Outcome, QuestionMaker, Spool
from swag_studio.engine.registry import EXPORTERS
from swag_studio.engine.release_asked import checked, chosen
from swag_studio.engine.release_checks import ReleaseChecks, Report
from swag_studio.engine.release_extras import preferences, surprising
from swag_studio.engine.release_figures import Figures
from swag_studio.events import Changed, Event, Finished, Message, Progress
from swag_studio.files import make_folder, sha256_of, sync, write_json, write_text, writing
from swag_studio.judged import JudgedRun
from swag_studio.lineage import Lineage
from swag_studio.policy import VerificationPolicy
from swag_studio.project import Project
from swag_studio.releases import (
    CARD,
    FOLDER,
    MANIFEST,
    PREFERENCES,
    PROVENANCE,
    RUN,
    SURPRISING,
    ReleaseError,
    ReleaseOptions,
    command,
)

STAGE = "publish"
FORMAT = 2  # of the manifest; the draft's is 1
_AT_ONCE = 200  # questions or contexts between two events
_SPOOL = ".questions.jsonl"


def publish(project: Project, options: ReleaseOptions) -> Iterator[Event]:
    """Writes the release `options.version` whole, or nothing.

    Raises ReleaseError when the version is there already, when something is asked for that cannot
    be, and when nothing can be released; Blocked when the checks find an error that is not
    overridden.
    """
    options = checked(options)
    folder = project.root / FOLDER / options.version
    _refuse(folder)
    # Whoever left them is gone: this process holds the project's lock, and writes one at a time.
    for left in folder.parent.glob(".*.partial"):
        shutil.rmtree(left, ignore_errors=True)
    partial = folder.with_name(f".{folder.name}.partial")
    publication = Publication(project, options, partial)
    make_folder(partial)
    try:
        summary = yield from publication.write()
        _refuse(folder)
        manifests.remember(project.store, options.version, partial)  # before it can be read
        partial.replace(folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    yield Message(STAGE, f"Release {options.version} is in {folder}.")
    yield Changed(("releases",))
    yield Finished(STAGE, {**summary, "folder": str(folder)})


def verified(project: Project, *, simulated: bool = False) -> int:
    """The contexts that a release of the recipe's run would make verified questions of."""
    run = _CountedRun(project, Lineage.of(project), simulated)
    return sum(verdict.kind == "found" for verdict in run.verdicts())


def _refuse(folder: Path) -> None:
    if folder.exists():
        raise ReleaseError(
            f"{folder} exists already, and a release is never changed. Choose another version."
        )


class Blocked(ReleaseError):
    """Errors that were found and not overridden. `allowed` are the options that override all."""

    def __init__(
        self, found: str, project: Path, allowed: ReleaseOptions, out: Path | None = None
    ) -> None:
        self.found, self.project, self.allowed = found, project, allowed
        again = command(project, allowed, out)
        super().__init__(f"Not released. {found} To release all the same: {again}")


class _CountedRun(JudgedRun):
    """The human work of a run, with simulated answers counted as the release asks for it."""

    def __init__(self, project: Project, lineage: Lineage, simulated: bool) -> None:
        filtered, prepared = lineage["filter"].version, lineage["prepare"].version
        super().__init__(project.store, filtered, prepared, lineage.recipe.run.seed)
        self._simulated = simulated

    @property
    def count_simulated(self) -> bool:
        return self._simulated


class Publication:
    """One release on its way, in a folder that is not seen yet."""

    stage = STAGE  # of its events

    def __init__(self, project: Project, options: ReleaseOptions, folder: Path) -> None:
        self.project, self.options, self.folder = project, options, folder
        self.formats = chosen(options)
        self.lineage = Lineage.of(project, options.filter_version)
        self.recipe = self.lineage.recipe
        self.feedback = feedback_told(project, self.lineage["filter"])
        self.run = _CountedRun(project, self.lineage, options.include_simulated)
        self.policy = self.run.policy
        if self.policy.distractors_needed < WRONG:
            raise ReleaseError(
                f"SWAG's files have {WRONG} wrong endings a question, and the verification policy "
                f"asks for {self.policy.distractors_needed}. Set distractors_needed to {WRONG}."
            )
        self.names = Names(project.store)
        annotators = project.store.annotators()
        self.simulated = {a.id for a in annotators if a.kind == "simulated"}
        sources = {source.id: source for source in project.store.sources()}
        self.figures = Figures(sources, annotators, options.include_simulated)
        self.spool = Spool(folder / _SPOOL, self.recipe.run.seed)
        self.extras = {SURPRISING: 0, PREFERENCES: 0}
        self.began = time.monotonic()

    def write(self) -> Generator[Event, None, dict[str, Any]]:
        """All files; returns the summary."""
        yield from self.choose()
        report = yield from self._check()
        for name, package in self.formats.left_out.items():
            text = f"The format {name} is left out: it needs the package {package}, which is not"
            yield Message(STAGE, f"{text} installed.", "warning")
        for name in self.formats.written:
            yield from self._export(name)
        yield from self._trace()
        self.spool.path.unlink()
        manifest = self._manifest(report)
        manifest["files"] = files = {name: self._described(name) for name in self._names()}
        write_text(self.folder / CARD, card({**manifest, "files": {**files, CARD: {}}}))
        files[CARD] = self._described(CARD)
        write_json(self.folder / MANIFEST, manifest)
        write_json(self.folder / RUN, self._account())
        for path in self.folder.rglob("*"):
            sync(path)
        counts = manifest["counts"]
        return {
            "version": self.options.version,
            "questions": len(self.spool),
            **self.spool.counts,
            "verified_by": self.figures.verified_by,
            "feedback_by": self.feedback["by"],
            "unverified": manifest["verification"]["unverified_questions"],
            "left_out": counts["left_out"],
            "surprising": counts["surprising"],
            "preferences": counts["preferences"],
            "warnings": [problem.sentence for problem in report.warnings],
            "overrides": manifest["overrides"],
            "unneeded_overrides": self._unneeded(report),
            "formats": manifest["formats"],
        }

    # --- choosing ----------------------------------------------------------------------------

    def choose(self) -> Iterator[Event]:
        """Every context of the run to the questions that come of it, by context id.

        Raises ReleaseError when there are none.
        """
        store, version = self.project.store, self.run.version
        total = sum(1 for _ in store.filtered_groups(version, self.run.prepare))
        ids = (id for id, _ in store.filtered_groups(version, self.run.prepare))
        maker = QuestionMaker(
            store, self.policy, self.run.seed, self.options.unverified, self.simulated
        )
        with contextlib.ExitStack() as stack:
            opened = (stack.enter_context(writing(self.folder / name)) for name in self.extras)
            beside = dict(zip(self.extras, opened, strict=True))
            spooled = stack.enter_context(writing(self.spool.path))
            yield Progress(self.stage, 0, total, "contexts", "choosing")
            for done, outcome in enumerate(maker.outcomes(self.run.cases(ids)), start=1):
                self.figures.add(outcome)
                self._keep_apart(outcome, beside)
                note = said(outcome, self.names) if outcome.questions else {}
                for question in outcome.questions:
                    spooled.write(self.spool.line(question, note))
                if done % _AT_ONCE == 0 or done == total:
                    yield Progress(self.stage, done, total, "contexts", "choosing")
        if not len(self.spool):
            raise ReleaseError(self._nothing())

    def _keep_apart(self, outcome: Outcome, beside: Mapping[str, Any]) -> None:
        found = surprising(outcome)
        rows = {
            SURPRISING: [found] if found else [],
            PREFERENCES: [*preferences(outcome, self.policy)],
        }
        for name, told in rows.items():
            beside[name].writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in told)
            self.extras[name] += len(told)

    def _nothing(self) -> str:
        reasons = ", ".join(f"{n:,} {why}" for why, n in sorted(self.figures.left_out.items()))
        advice = "Have contexts judged, or release them unverified with --unverified."
        if self.simulated and not self.options.include_simulated:
            advice += " Simulated annotators' answers count with --include-simulated."
        return f"No question can be released (contexts: {reasons or 'none'}). {advice}"

    # --- writing -----------------------------------------------------------------------------

    def look(self) -> Generator[Event, None, Report]:
        """The faults of the chosen questions."""
        checks = ReleaseChecks()
        for done, question in enumerate(self.spool, start=1):
            checks.add(question)
            yield from self._beat(done, "checking")
        return checks.report()

    def _check(self) -> Generator[Event, None, Report]:
        report = yield from self.look()
        kinds = tuple(p.kind for p in report.errors)
        blocking = [p for p in report.errors if p.kind not in self.options.overrides]
        if blocking:
            found = " ".join(f"{p.sentence} ({p.kind}; {p.places[0]})" for p in blocking)
            allowed = replace(self.options, overrides=kinds)
            raise Blocked(found, self.project.root, allowed)
        for problem in report.problems:
            yield Message(STAGE, problem.sentence, "warning", "\n".join(problem.places))
        if unneeded := self._unneeded(report):
            text = f"Not found, so there was nothing to override: {', '.join(unneeded)}."
            reason = "" if kinds else " Nor does the reason stand on the card."
            yield Message(STAGE, f"{text} It is not in the manifest.{reason}", "warning")
        return report

    def _unneeded(self, report: Report) -> list[str]:
        """What was to be overridden and was not found."""
        return sorted({*self.options.overrides} - {p.kind for p in report.errors})

    def _export(self, name: str) -> Iterator[Event]:
        try:
            for done in EXPORTERS[name]().export(self.spool, self.folder):
                yield from self._beat(done, name)
        except ImportError as error:
            raise ReleaseError(
                f"The format {name} cannot be written: the package {error.name} is there, but does "
                "not load. Install it anew, or name the other formats."
            ) from None

    def _trace(self) -> Iterator[Event]:
        provenance = Provenance(self.project, self.lineage, self.names, self.policy)
        if not provenance.history.known:
            text = "The run's iterations are gone, so provenance lacks when endings came in."
            yield Message(STAGE, text, "warning")
        with writing(self.folder / PROVENANCE) as file:
            for done, line in enumerate(provenance.lines(self.spool), start=1):
                file.write(line + "\n")
                yield from self._beat(done, "tracing")

    def _beat(self, done: int, note: str) -> Iterator[Event]:
        if done % _AT_ONCE == 0 or done == len(self.spool):
            yield Progress(self.stage, done, len(self.spool), "questions", note)

    # --- what stands beside the questions ----------------------------------------------------

    def _names(self) -> list[str]:
        """The files of the release but its manifest and account, by name."""
        paths = (p for p in self.folder.rglob("*") if p.is_file())
        names = {p.relative_to(self.folder).as_posix() for p in paths}
        return sorted(names - {MANIFEST, RUN})

    def _described(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        return {"sha256": sha256_of(path), "bytes": path.stat().st_size}

    def _manifest(self, report: Report) -> dict[str, Any]:
        """Everything that tells how the release was made, but for the files."""
        o, people, spent = self.options, self.figures.people(), accounting.work(self.project)
        counts = {
            **self.figures.counts(),
            "surprising": self.extras[SURPRISING],
            "preferences": self.extras[PREFERENCES],
        }
        return {
            "format": FORMAT,
            "version": o.version,
            "title": o.title,
            "licence": o.licence,
            "language": o.language,
            "package": {"name": "swag-studio", "version": __version__},
            "unverified": people["unverified_questions"] > 0,
            "simulated": people["simulated_judgements"] > 0,
            "counts": counts,
            "verification": {**people, **_policy(self.policy)},
            "formats": {
                "written": list(self.formats.written),
                "left_out": dict(self.formats.left_out),
            },
            "checks": report.public(),
            "overrides": sorted(p.kind for p in report.errors),
            "override_reason": o.override_reason if report.errors else "",
            # As it was written: an older program's has no fields that came since.
            "recipe": tomllib.loads(self.lineage["filter"].recipe),
            "stages": {
                stage: {
                    "version": a.version,
                    "key": a.key,
                    "made_with": accounting.versions(spent.get(a.folder, {})),
                }
                for stage, a in self.lineage.made.items()
            },
            "feedback": self.feedback,
            "gold_unseen": self.lineage["train_lm"].summary.get("gold_unseen"),
            "sources": [
                {"file": s.file, "format": s.format, "sha256": s.sha256, "captions": s.captions}
                for s in self.project.store.sources()
            ],
        }

    def _account(self) -> dict[str, Any]:
        """When, where, how long and at what cost: what differs between equal releases."""
        account = accounting.account(self.project, self.lineage.made.values())
        hours = sum(float(s.get("seconds", 0.0)) for s in account["stages"].values()) / 3600
        rate = self.options.cost_per_hour
        rate = settings.load().cost_per_hour if rate is None else rate
        judgements, seconds = self.figures.judgements["person"], self.figures.seconds
        earned = pay.account(judgements, seconds, 0.0, 0, self.run.pay)
        return {
            **account,
            "writing_seconds": round(time.monotonic() - self.began, 2),
            "compute_hours": round(hours, 4),
            "cost_per_hour": rate or None,
            "compute_cost": round(hours * rate, 2) if rate else None,
            "people_hours": round(seconds / 3600, 4),
            "people_pay": round(earned.earned, 2),
        }


def _policy(policy: VerificationPolicy) -> dict[str, Any]:
    return {"policy": policy.to_dict(), "policy_id": policy_id(policy)}
