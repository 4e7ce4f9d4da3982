"""LlamaIndex: memory of a chat, with what earlier chats told."""

from __future__ import annotations

from typing import Any

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.llms import ChatMessage, MessageRole, TextBlock
from llama_index.core.memory import BaseMemory

from .. import MemoryApi
from ._transcript import Item, Said, Transcript

__all__ = ["EverloreMemory"]

_ROLES = {MessageRole.USER: "user", MessageRole.ASSISTANT: "assistant", MessageRole.SYSTEM: "system"}


class EverloreMemory(BaseMemory):
    """Memory of one session: its last messages, and before them the block of what matters for the new one."""

    session_id: str = Field(description="Session whose messages are kept.")
    token_budget: int = Field(default=800, description="Token budget of the recalled block.")
    message_limit: int = Field(default=40, description="Largest number of messages of the session.")
    _memory: MemoryApi = PrivateAttr()
    _transcript: Transcript = PrivateAttr()

    def __init__(self, memory: MemoryApi, session_id: str = "default", **options: Any) -> None:
        """Opens the memory of a session; nothing is read yet."""
        super().__init__(session_id=session_id, **options)  # type: ignore[call-arg]
        self._memory, self._transcript = memory, Transcript(memory, session_id)

    @classmethod
    def class_name(cls) -> str:
        """Returns the name under which LlamaIndex knows it."""
        return "EverloreMemory"

    @classmethod
    def from_defaults(cls, memory: MemoryApi | None = None, **options: Any) -> EverloreMemory:
        """Opens a memory; the home of the ``everlore`` command if none is given."""
        if memory is None:
            from .. import Memory

            memory = Memory.open()
        return cls(memory, **options)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Returns the last messages, after a system message with what is known about ``input`` or the newest one."""
        recent = [_message(entry) for entry in self._transcript.last(self.message_limit)]
        query = input or next((message.content for message in recent[::-1] if message.role == MessageRole.USER), None)
        block = self._memory.context(query, budget=self.token_budget) if query else None
        if not block:
            return recent
        return [ChatMessage(role=MessageRole.SYSTEM, content=block.text), *recent]

    def get_all(self) -> list[ChatMessage]:
        """Returns all messages, oldest first."""
        return [_message(entry) for entry in self._transcript.entries()]

    def put(self, message: ChatMessage) -> None:
        """Stores a message."""
        self._transcript.add([_entry(message)])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Stores messages, all or none."""
        self._transcript.add(map(_entry, messages))

    def set(self, messages: list[ChatMessage]) -> None:
        """Replaces all messages."""
        self._transcript.clear()
        self.put_messages(messages)

    def reset(self) -> None:
        """Deletes the messages of the session; this can be undone."""
        self._transcript.clear()


def _entry(message: ChatMessage) -> Said | Item:
    role = _ROLES.get(MessageRole(message.role))
    is_plain = len(message.blocks) == 1 and isinstance(message.blocks[0], TextBlock) and not message.additional_kwargs
    text = message.content or ""
    if role and is_plain and text.strip():
        return Said(role, text)
    return Item(message.model_dump(mode="json"))


def _message(entry: Said | Item) -> ChatMessage:
    if isinstance(entry, Item):
        return ChatMessage.model_validate(entry.value)
    return ChatMessage(role=entry.role, content=entry.text)
