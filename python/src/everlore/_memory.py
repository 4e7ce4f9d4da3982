"""Memory in this process: the engine as a library, without a server."""

from __future__ import annotations

import asyncio
import json
import os
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar, Union

from ._api import AsyncMemoryApi, MemoryApi
from ._calls import Call
from ._errors import Closed, EverloreError, error_from
from ._native import EngineHandle, NativeError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["AsyncMemory", "Memory"]

T = TypeVar("T")
Path = Union[str, "os.PathLike[str]"]

#: The path of memories that live in this process only.
RAM = ":memory:"


class _Opened:
    """Open engine of this process; a process that ``fork`` made opens the same home again when it first uses it."""

    def __init__(self, path: Path | None, agent: str | None, user: str | None) -> None:
        self.path, self.names = path, (agent, user)
        self.is_closed = False
        self._open()

    def _open(self) -> None:
        agent, user = self.names
        try:
            if self.path is not None and os.fspath(self.path) == RAM:
                self.handle = EngineHandle.open_in_ram(agent or "default", user or "default")
            else:
                self.handle = EngineHandle.open(self.path, agent, user)
        except NativeError as error:
            raise error_from(*error.args) from None
        self.names = self.handle.scope()
        self.process_id = os.getpid()
        self.close_handle = weakref.finalize(self, self.handle.close)

    def current(self) -> EngineHandle:
        if self.is_closed:
            raise Closed("the memory is closed", "open it with Memory.open()", "closed")
        if self.process_id != os.getpid():
            self._open_after_fork()
        return self.handle

    def _open_after_fork(self) -> None:
        if self.path is not None and os.fspath(self.path) == RAM:
            hint = "open a home folder to share memories between processes"
            raise Closed("these memories live in the parent process only", hint, "forked")
        self.close_handle.detach()
        self._open()

    def close(self) -> None:
        self.is_closed = True
        self.close_handle()


class Memory(MemoryApi):
    """Memory in this process.

    >>> with Memory.open(":memory:", agent="assistant", user="ana") as memory:
    ...     saved = memory.remember("I'm allergic to peanuts")
    ...     print(memory.recall("am I allergic to anything?")[0].content)
    I'm allergic to peanuts

    Any number of threads may use it at once, and several processes may open the same home. Calls release the GIL, and
    Ctrl-C interrupts them.
    """

    def __init__(self, opened: _Opened) -> None:
        """Wraps an open engine; ``Memory.open`` makes one."""
        self._opened = opened

    @classmethod
    def open(cls, path: Path | None = None, *, agent: str | None = None, user: str | None = None) -> Self:
        """Opens a home folder, which holds database, settings and layers; creates it where needed.

        Without a path it is that of the ``everlore`` command: ``EVERLORE_HOME``, or ``~/.everlore``. Agent and user come
        from the environment and the settings if they are left out. ``":memory:"`` keeps everything in this process.
        """
        return cls(_Opened(path, agent, user))

    @property
    def agent(self) -> str:
        """The agent whose memory it is."""
        return str(self._opened.names[0])

    @property
    def user(self) -> str:
        """The user whom it is about."""
        return str(self._opened.names[1])

    def close(self) -> None:
        """Closes the database once background work is stored; repeating it does nothing."""
        self._opened.close()

    def _run(self, call: Call[T]) -> T:
        try:
            answer = self._opened.current().call(call.operation, _encode(call))
        except NativeError as error:
            raise error_from(*error.args) from None
        return call.read(json.loads(answer))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory(agent={self.agent!r}, user={self.user!r})"


class AsyncMemory(AsyncMemoryApi):
    """Memory in this process, to await.

    >>> import asyncio
    >>> async def main():
    ...     async with await AsyncMemory.open(":memory:") as memory:
    ...         await memory.remember("我喜欢喝龙井茶")
    ...         print((await memory.recall("喝什么茶？"))[0].content)
    >>> asyncio.run(main())
    我喜欢喝龙井茶

    The engine works on threads of its own: the event loop never waits. A cancelled call is given up.
    """

    def __init__(self, opened: _Opened) -> None:
        """Wraps an open engine; ``AsyncMemory.open`` makes one."""
        self._opened = opened

    @classmethod
    async def open(cls, path: Path | None = None, *, agent: str | None = None, user: str | None = None) -> Self:
        """Opens a home folder like ``Memory.open``."""
        return cls(await asyncio.to_thread(_Opened, path, agent, user))

    @property
    def agent(self) -> str:
        """The agent whose memory it is."""
        return str(self._opened.names[0])

    @property
    def user(self) -> str:
        """The user whom it is about."""
        return str(self._opened.names[1])

    async def close(self) -> None:
        """Closes the database once background work is stored; repeating it does nothing."""
        await asyncio.to_thread(self._opened.close)

    async def _run(self, call: Call[T]) -> T:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes] = loop.create_future()

        def settle(found: bytes | None, error: EverloreError | None) -> None:
            if answer.done():
                return
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(found or b"")

        def done(found: bytes | None, failure: tuple[str, str, str] | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, found, error_from(*failure) if failure else None)

        try:
            pending = self._opened.current().start(call.operation, _encode(call), done)
        except NativeError as error:
            raise error_from(*error.args) from None
        try:
            return call.read(json.loads(await answer))
        except asyncio.CancelledError:
            pending.cancel()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncMemory(agent={self.agent!r}, user={self.user!r})"


def _encode(call: Call[T]) -> bytes:
    try:
        return json.dumps(call.request).encode()
    except (TypeError, ValueError, UnicodeEncodeError) as error:
        raise error_from("invalid", f"the request is no JSON: {error}", "give texts, numbers, lists and dicts") from None
