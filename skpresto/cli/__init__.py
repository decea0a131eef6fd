"""The command line: ``skpresto audit`` and ``skpresto apply``.

Nothing heavy is imported before it is needed, so that ``skpresto --help`` is fast.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence

from skpresto.cli._arguments import parser

#: Exit codes; argparse exits with 2 for wrong arguments.
SUCCESS, FAILURE, INTERRUPTED = 0, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        The arguments; None means those of the process.

    Returns
    -------
    code : int
        0 if all went well, 1 after an error of input or output, 130 after Ctrl-C.
        Wrong arguments raise SystemExit with code 2.
    """
    arguments = parser().parse_args(argv)
    try:
        _run(arguments)
    except KeyboardInterrupt:
        _say("stopped. Nothing was written.")
        return INTERRUPTED
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if arguments.traceback:
            raise
        _say(f"error: {_sentence(error)}")
        return FAILURE
    return SUCCESS


def _run(arguments: Namespace) -> None:
    from skpresto._packages import needed_by

    with needed_by("The command line", "audit"):
        arguments.run(arguments)


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}"
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".strip()
    return " ".join(str(error).split()) or type(error).__name__


def _say(sentence: str) -> None:
    sys.stderr.write(f"skpresto: {sentence}\n")
