"""When recognition runs: before everything else, or beside what is asked about the golden transcripts."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from misheard.run.context import RunContext
from misheard.run.plan import Plan
from misheard.run.recognition import recognize_suite
from misheard.run.recognized import Recognized

Heard = tuple[Plan, list[Recognized]]


@contextlib.contextmanager
def hearing(context: RunContext) -> Iterator[Callable[[], Heard]]:
    """Give a function that returns the plan and what was recognized, waiting for it where it must.

    With the schedule `serial` everything is recognized before the block begins; with `overlap` a thread does
    so during the block. The function raises what recognition raised; leaving the block early ends it.
    """
    if context.config.execution.schedule == "serial":
        heard = recognize_suite(context)
        yield lambda: heard
        return
    beside = context.beside
    with ThreadPoolExecutor(1, "misheard-recognition") as pool:
        recognition = pool.submit(_recognize, context)
        try:
            beside.busy.wait()
            yield recognition.result
        except BaseException:
            beside.stop()
            raise


def _recognize(context: RunContext) -> Heard:
    try:
        own = dataclasses.replace(context, progress=context.progress.beside())
        return recognize_suite(own)
    except BaseException as error:
        context.beside.failed = error
        raise
    finally:
        context.beside.busy.set()
