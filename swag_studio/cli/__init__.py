"""The headless twin of the window: the same generators, pulled from a terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from swag_studio.errors import UserError, misfortune, quoted

DONE, USER_ERROR, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code.

    0 done, 1 an error that the user can help (one line on stderr), 2 wrong usage, 130
    interrupted. With --json the error is the last line on stdout instead. A fault of the program
    keeps its traceback.
    """
    import typer  # these stay out of an import of the package

    # The others register their commands with `commands`.
    from swag_studio.cli import (  # noqa: F401
        again,
        backing_up,
        commands,
        filtering,
        packets,
        people,
        publishing,
        releasing,
    )
    from swag_studio.cli.pulling import Interrupted

    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    reporter = commands.reporter("--json" in words)
    try:
        with _terminated_as_interrupted():
            code = commands.app(args=words, prog_name="swag-studio", standalone_mode=False)
        if code == INTERRUPTED:  # what typer makes of KeyboardInterrupt
            raise KeyboardInterrupt
        return code if isinstance(code, int) else DONE
    except Interrupted:  # said already, with how to go on
        return INTERRUPTED
    except UserError as error:
        reporter.error(str(error))
        return USER_ERROR
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "swag-studio"
        reporter.error(f"{error.format_message()} See: {command} --help", kind="usage")
        return USAGE
    except KeyboardInterrupt:
        reporter.error("interrupted.", kind="interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has gone; nothing is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return USER_ERROR
    except Exception as error:
        if text := misfortune(error):
            reporter.error(text)
            return USER_ERROR
        raise


def without_display(path: str) -> int:
    """Says of a file that a window shows what a terminal does with it; returns the exit code."""
    from swag_studio.cli import commands

    packet = path.endswith(".swagpacket")
    instead = f"swag-studio {'packets check' if packet else 'status'} {quoted(path)}"
    text = f"{path} opens in a window, and there is no display here. In a terminal: {instead}"
    commands.reporter(json=False).error(f"{text}; all commands: swag-studio --help")
    return USER_ERROR


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM unwinds as Ctrl-C does, so that locks are given back."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not the main thread, which alone hears signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
