"""CrewAI: storage of a crew's external memory."""

from __future__ import annotations

from typing import Any

from crewai.memory.external.external_memory import ExternalMemory
from crewai.memory.storage.interface import Storage

from .. import MemoryApi

__all__ = ["EverloreStorage", "external_memory"]

#: Tag of what crews save, so that ``reset`` deletes nothing else.
_TAG = "crewai"


class EverloreStorage(Storage):
    """Storage for ``ExternalMemory(storage=EverloreStorage(memory))``."""

    def __init__(self, memory: MemoryApi) -> None:
        """Wraps a memory."""
        self.memory = memory

    def save(self, value: Any, metadata: dict[str, Any]) -> None:
        """Saves the result of a task."""
        self.memory.remember(str(value), tags=[_TAG], role="assistant", metadata={"crewai": _plain(metadata or {})})

    def search(self, query: str, limit: int = 3, score_threshold: float = 0.0) -> list[dict[str, Any]]:
        """Finds memories of the agent and the user, whoever saved them.

        The engine itself leaves out what does not matter, so the threshold, which is made for cosines, is not used.
        """
        return [
            {"content": hit.content, "context": hit.content, "score": hit.score, "metadata": dict(hit.metadata)}
            for hit in self.memory.recall(query, limit=limit)
        ]

    def reset(self) -> None:
        """Deletes what crews saved; this can be undone."""
        while page := self.memory.list(tags=[_TAG], limit=500).memories:
            for saved in page:
                self.memory.delete(saved.id)


def external_memory(memory: MemoryApi) -> ExternalMemory:
    """Returns the external memory for ``Crew(external_memory=…)``."""
    return ExternalMemory(storage=EverloreStorage(memory))


def _plain(value: Any) -> Any:
    """Returns what JSON can hold; anything else as text."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
