"""LangChain: chat history of a session, and a retriever of memories."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from .. import Hit, MemoryApi
from ._transcript import Item, Said, Transcript

__all__ = ["EverloreChatMessageHistory", "EverloreRetriever"]

_CLASSES: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}
_ROLES = {HumanMessage: "user", AIMessage: "assistant", SystemMessage: "system"}


class EverloreChatMessageHistory(BaseChatMessageHistory):
    """Messages of one session, stored as turns that later conversations recall."""

    def __init__(self, memory: MemoryApi, session_id: str) -> None:
        """Opens the history of a session; nothing is read yet."""
        self.transcript = Transcript(memory, session_id)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages, oldest first."""
        return [_message(entry) for entry in self.transcript.entries()]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Stores messages, all or none."""
        self.transcript.add(map(_entry, messages))

    def clear(self) -> None:
        """Deletes the messages; this can be undone."""
        self.transcript.clear()


class EverloreRetriever(BaseRetriever):
    """Memories that matter for a query, as documents."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Any
    """A ``Memory`` or ``Client``."""
    k: int = 5
    """Largest number of documents."""
    kinds: list[str] | None = None
    """Kinds of memories; all by default."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        memory: MemoryApi = self.memory
        return [_document(hit) for hit in memory.recall(query, limit=self.k, kinds=self.kinds)]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        recall = self.memory.recall
        return [_document(hit) for hit in await asyncio.to_thread(recall, query, limit=self.k, kinds=self.kinds)]


def _document(hit: Hit) -> Document:
    metadata = {"kind": hit.kind, "score": hit.score, "at": hit.at.isoformat(), "unverified": hit.unverified}
    return Document(id=hit.id, page_content=hit.content, metadata=metadata)


def _entry(message: BaseMessage) -> Said | Item:
    """Returns the message as a turn if plain text says all of it."""
    role = _ROLES.get(type(message))
    text = message.content
    if role and isinstance(text, str) and text.strip() and _is_plain(message):
        return Said(role, text)
    return Item(message_to_dict(message))


def _is_plain(message: BaseMessage) -> bool:
    calls = getattr(message, "tool_calls", None) or getattr(message, "invalid_tool_calls", None)
    return not calls and not message.additional_kwargs and not message.name


def _message(entry: Said | Item) -> BaseMessage:
    if isinstance(entry, Item):
        return messages_from_dict([entry.value])[0]
    return _CLASSES.get(entry.role, HumanMessage)(content=entry.text)
