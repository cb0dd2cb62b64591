"""An asyncio loop in a thread of its own, for synchronous code that needs concurrent requests."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")


class EventLoopThread:
    """Runs coroutines for synchronous callers; `close` cancels what still runs."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Start the coroutine; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, Result], seconds: float | None = None) -> Result:
        """Run the coroutine to its end; an exception here, Ctrl-C among them, cancels it.

        Raises TimeoutError after `seconds`.
        """
        future = self.submit(work)
        try:
            return future.result(seconds)
        finally:
            future.cancel()

    def close(self) -> None:
        """Cancel all that runs, end the thread; further calls do nothing."""
        if self._loop.is_closed():
            return
        with contextlib.suppress(TimeoutError):
            self.submit(_cancel_others()).result(timeout=5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self._loop.close()


async def _cancel_others() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
