"""The documents whose truth is tested, and what can be read out of them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
README, GUIDE = REPOSITORY / "README.md", REPOSITORY / "docs/guide.md"
LIBRARIES = REPOSITORY / "docs/decisions/libraries.md"
EXTENDING, DESIGN = REPOSITORY / "docs/extending.md", REPOSITORY / "docs/design.md"
COMMANDED = (README, GUIDE, EXTENDING)
DOCUMENTS = sorted(
    [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md"), *REPOSITORY.glob("docs/*/*.md")]
)


def named(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def prose(path: Path) -> str:
    """The text without its blocks of code."""
    text = path.read_text("utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def spans(path: Path) -> list[str]:
    """The pieces of code within the text."""
    return re.findall(r"`([^`\n]+)`", prose(path))


def lines_of(path: Path) -> list[list[str]]:
    """The words after "swag-studio" of each such line of a block, comments left out."""
    found = []
    for block in blocks(path.read_text("utf-8"), "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words and Path(words[0]).name == "swag-studio":
                found.append(words[1:])
    return found
