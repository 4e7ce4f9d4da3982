"""Long-term memory for LLM agents, in English and Chinese.

``Memory`` is the engine in this process, ``Client`` a server; both have the same methods, and ``AsyncMemory`` and
``AsyncClient`` have them to await. ``everlore.adapters`` has a module for each framework of agents.

>>> memory = Memory.open(":memory:")
>>> saved = memory.remember("I'm allergic to peanuts")
>>> memory.recall("am I allergic to anything?")[0].content
"I'm allergic to peanuts"
"""

from typing import TYPE_CHECKING, Any

from ._api import AsyncMemoryApi, MemoryApi
from ._client import AsyncClient, Client
from ._errors import (
    AmbiguousId,
    Closed,
    Conflict,
    Damaged,
    Denied,
    EverloreError,
    Invalid,
    NotFound,
    RateLimited,
    ReadOnly,
    TooLong,
    Unavailable,
)
from ._values import (
    Change,
    Context,
    ContextEntry,
    Extraction,
    Forgotten,
    Hit,
    Page,
    Recall,
    Saved,
    StoredMemory,
    Undone,
)

if TYPE_CHECKING:
    from ._memory import AsyncMemory, Memory
    from ._native import __version__

__all__ = [
    "AmbiguousId", "AsyncClient", "AsyncMemory", "AsyncMemoryApi", "Change", "Client", "Closed", "Conflict", "Context",
    "ContextEntry", "Damaged", "Denied", "EverloreError", "Extraction", "Forgotten", "Hit", "Invalid", "Memory",
    "MemoryApi", "NotFound", "Page", "RateLimited", "ReadOnly", "Recall", "Saved", "StoredMemory", "TooLong",
    "Unavailable", "Undone", "__version__",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Loads the engine when it is first used: a client of a server does without."""
    if name in ("Memory", "AsyncMemory"):
        from . import _memory

        return getattr(_memory, name)
    if name == "__version__":
        from ._native import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
