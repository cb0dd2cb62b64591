"""An asyncio loop in a thread of its own, for synchronous code that needs concurrent requests."""

import asyncio
import contextlib
import logging
import queue
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from misheard.errors import BackendError

Request = TypeVar("Request")
Result = TypeVar("Result")
_CLOSE_SECONDS = 5.0


class EventLoopThread:
    """Runs coroutines for synchronous callers; `close` cancels what still runs."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._closed = False
        self._submitting = threading.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Start the coroutine; cancelling the future cancels it. Raises RuntimeError after `close`."""
        with self._submitting:
            if not self._closed:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise RuntimeError("nothing can be started after close()")

    def run(self, work: Coroutine[Any, Any, Result], seconds: float | None = None) -> Result:
        """Run the coroutine to its end; an exception here, Ctrl-C among them, cancels it.

        Raises TimeoutError after `seconds`.
        """
        future = self.submit(work)
        try:
            return future.result(seconds)
        finally:
            future.cancel()

    def each(
        self, count: int, work: Callable[[Callable[[Result], None]], Coroutine[Any, Any, None]], section: str
    ) -> Iterator[Result]:
        """Yield the `count` results that the coroutine passes on, as they come; leaving early cancels it.

        `work` gets the function that it calls with every result. Raises what the coroutine raises, and
        BackendError, which names `section` of the config, where the loop is closed meanwhile.
        """
        finished: queue.SimpleQueue[Result | _Ended] = queue.SimpleQueue()
        future = self.submit(work(finished.put))
        future.add_done_callback(lambda done: finished.put(_Ended(done)))
        try:
            for _ in range(count):
                outcome = finished.get()
                if isinstance(outcome, _Ended):
                    raise outcome.error(section)
                yield outcome
        finally:
            future.cancel()

    def close(self, disconnect: Callable[[], Awaitable[None]] | None = None) -> None:
        """Cancel all that runs, then disconnect, then end the thread; further calls do nothing.

        Requests are cancelled first, as they would fail, and be journaled, when their connections are closed.
        """
        with self._submitting:
            # what is started from now on would be neither cancelled nor run, and waited for in vain
            self._closed = True
        if self._loop.is_closed():
            return
        with contextlib.suppress(TimeoutError, CancelledError):
            self._run_last(_cancel_others())
        if disconnect is not None:
            self._disconnect(disconnect)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=_CLOSE_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()

    def _disconnect(self, disconnect: Callable[[], Awaitable[None]]) -> None:
        async def last() -> None:
            await disconnect()

        try:
            self._run_last(last())
        except Exception:  # noqa: BLE001 - a connection that cannot be closed is left to the operating system
            logging.getLogger(__name__).debug("closing the connections failed")

    def _run_last(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=_CLOSE_SECONDS)


class _Ended:
    """The end of a coroutine that has passed on all that it will."""

    def __init__(self, future: Future[None]) -> None:
        self._future = future

    def error(self, section: str) -> BaseException:
        if self._future.cancelled():
            return BackendError(f"{section}: closed while requests were running")
        error = self._future.exception()
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        return error or RuntimeError("fewer results than requests")


async def ask_each(
    requests: Sequence[Request],
    ask: Callable[[Request], Awaitable[Result]],
    concurrency: int,
    done: Callable[[Result], None],
) -> None:
    """Ask for every request, at most `concurrency` at a time, and pass each result on when it is there."""
    waiting = iter(requests)

    async def work() -> None:
        for request in waiting:
            done(await ask(request))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(concurrency, len(requests))):
            group.create_task(work())


async def _cancel_others() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
