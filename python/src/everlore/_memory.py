"""Memory in this process: the engine as a library, without a server."""

from __future__ import annotations

import asyncio
import json
import os
import threading
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
    """Open engine of this process.

    SQLite must not be open while a process forks: the child would share its notes about locks, but not the locks. So the
    database is closed before a fork, and parent and child open it again when they next use it.
    """

    def __init__(self, path: Path | None, agent: str | None, user: str | None) -> None:
        self.path, self.names = path, (agent, user)
        self.is_closed = False
        self.lock = threading.Lock()
        self._open()
        if not self.is_in_ram:
            _HOMES.add(self)

    @property
    def is_in_ram(self) -> bool:
        return self.path is not None and os.fspath(self.path) == RAM

    def _open(self) -> None:
        agent, user = self.names
        try:
            if self.is_in_ram:
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
        if self.is_in_ram and self.process_id != os.getpid():
            hint = "open a home folder to share memories between processes"
            raise Closed("these memories live in the parent process only", hint, "forked")
        return self.handle

    def open_again(self, closed: EngineHandle) -> None:
        """Opens what a fork closed, unless another thread did so or the owner closed it."""
        with self.lock:
            if self.handle is closed and not self.is_closed:
                self.close_handle.detach()
                self._open()

    def was_closed_by_fork(self, error: Exception) -> bool:
        code = error.code if isinstance(error, EverloreError) else error.args[0]
        return code in ("closed", "forked") and not self.is_closed and not self.is_in_ram

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
        request = _encode(call)
        while True:
            handle = self._opened.current()
            try:
                return call.read(json.loads(handle.call(call.operation, request)))
            except NativeError as error:
                if not self._opened.was_closed_by_fork(error):
                    raise error_from(*error.args) from None
            self._opened.open_again(handle)

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
        request = _encode(call)
        while True:
            handle = self._opened.current()
            try:
                return call.read(json.loads(await _await_answer(handle, call.operation, request)))
            except EverloreError as error:
                if not self._opened.was_closed_by_fork(error):
                    raise
            await asyncio.to_thread(self._opened.open_again, handle)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncMemory(agent={self.agent!r}, user={self.user!r})"


async def _await_answer(handle: EngineHandle, operation: str, request: bytes) -> bytes:
    """Starts a call and waits for its answer; a cancelled call is given up."""
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
        pending = handle.start(operation, request, done)
    except NativeError as error:
        raise error_from(*error.args) from None
    try:
        return await answer
    except asyncio.CancelledError:
        pending.cancel()
        raise


def _encode(call: Call[T]) -> bytes:
    try:
        return json.dumps(call.request).encode()
    except (TypeError, ValueError, UnicodeEncodeError) as error:
        raise error_from("invalid", f"the request is no JSON: {error}", "give texts, numbers, lists and dicts") from None


#: Homes that are open in this process, and those of them that the fork in progress has closed; one at a time.
_HOMES: weakref.WeakSet[_Opened] = weakref.WeakSet()
_FORKING: list[_Opened] = []
_FORK = threading.Lock()


def _before_fork() -> None:
    _FORK.acquire()
    _FORKING.extend(_HOMES)
    for opened in _FORKING:
        opened.lock.acquire()
        opened.handle.close()


def _after_fork() -> None:
    for opened in _FORKING:
        opened.lock.release()
    _FORKING.clear()
    _FORK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
