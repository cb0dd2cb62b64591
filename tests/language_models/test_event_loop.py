import asyncio
import threading

import pytest

from misheard.errors import BackendError
from misheard.language_models.event_loop import EventLoopThread


async def nothing() -> None:
    pass


def test_what_is_started_while_it_closes_is_refused_and_not_waited_for_in_vain() -> None:
    loop, disconnecting, refused = EventLoopThread("test"), threading.Event(), threading.Event()

    async def disconnect() -> None:
        disconnecting.set()
        await asyncio.to_thread(refused.wait, 30.0)

    closing = threading.Thread(target=loop.close, args=(disconnect,))
    closing.start()
    assert disconnecting.wait(30.0)
    with pytest.raises(RuntimeError, match="after close"):
        loop.run(nothing())
    refused.set()
    closing.join(30.0)
    assert not closing.is_alive()
    loop.close()


def test_who_waits_when_it_closes_is_told() -> None:
    loop, waiting = EventLoopThread("test"), threading.Event()

    async def work(_: object) -> None:
        waiting.set()
        await asyncio.sleep(600)

    closing = threading.Thread(target=lambda: waiting.wait(30.0) and loop.close())
    closing.start()
    with pytest.raises(BackendError, match="section: closed while requests were running"):
        next(loop.each(1, work, "section"))
    closing.join(30.0)
