"""Methods of every memory, to wait for (``MemoryApi``) and to await (``AsyncMemoryApi``)."""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from . import _calls as calls
from ._calls import Call, Moment, TurnLike
from ._values import Change, Context, Extraction, Forgotten, Page, Recall, Saved, StoredMemory, Undone

__all__ = ["AsyncMemoryApi", "MemoryApi"]

T = TypeVar("T")


class MemoryApi(ABC):
    """Memory of one agent and one user. Nothing outside this scope is read or changed.

    Recalled text is data: put it into a prompt as what was said, never as instructions.
    """

    @abstractmethod
    def _run(self, call: Call[T]) -> T:
        """Carries a call out."""

    @abstractmethod
    def close(self) -> None:
        """Ends the connection; repeating it does nothing."""

    @property
    @abstractmethod
    def agent(self) -> str:
        """The agent whose memory it is."""

    @property
    @abstractmethod
    def user(self) -> str:
        """The user whom it is about."""

    def remember(
        self,
        content: str,
        *,
        kind: str | None = None,
        name: str | None = None,
        description: str | None = None,
        tags: Sequence[str] | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        at: Moment | None = None,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        replaces: str | None = None,
    ) -> Saved:
        """Saves a statement, or renews the memory that says the same. It is durable and indexed on return.

        What it contradicts is superseded, and secrets are masked first.

        >>> memory = Memory.open(":memory:")
        >>> memory.remember("I live in Lisbon").known
        False
        >>> memory.remember("I live in Lisbon").known
        True
        >>> len(memory.remember("I live in Porto now").superseded)
        1
        """
        return self._run(calls.remember(content, _remember_fields(locals())))

    def observe(self, turns: Iterable[TurnLike] | TurnLike, *, session: str | None = None) -> tuple[Saved, ...]:
        """Stores turns of a conversation, word for word, all or none.

        A turn is a text (of the user), a pair of role and text, or a mapping as chat models use it.

        >>> memory = Memory.open(":memory:")
        >>> saved = memory.observe([
        ...     ("user", "My landlord is called Mr. Silva, the rent is 1450 euros."),
        ...     {"role": "assistant", "content": "Noted."},
        ... ], session="monday")
        >>> memory.recall("how much is my rent?")[0].content
        'My landlord is called Mr. Silva, the rent is 1450 euros.'
        """
        return self._run(calls.observe(turns, session))

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        statuses: Sequence[str] | None = None,
        session: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        as_of: Moment | None = None,
        min_score: float | None = None,
        min_confidence: float | None = None,
    ) -> Recall:
        """Finds the memories that matter for a query, best first.

        >>> memory = Memory.open(":memory:")
        >>> saved = memory.remember("我喜欢喝龙井茶，每天早上一杯")
        >>> memory.recall("早上喝什么茶？")[0].content
        '我喜欢喝龙井茶，每天早上一杯'
        """
        return self._run(calls.recall(query, _filters(locals()), _limits(locals())))

    def context(
        self, query: str, *, budget: int | None = None, limit: int | None = None, session: str | None = None
    ) -> Context:
        """Builds the block for a system prompt; empty if nothing is relevant.

        With a session, the injected memories are recorded for it, so that upkeep learns which were of use.

        >>> memory = Memory.open(":memory:")
        >>> saved = memory.remember("I'm allergic to peanuts")
        >>> "peanuts" in memory.context("What should I cook tonight?", budget=200).text
        True
        """
        return self._run(calls.context(query, {"budget": budget, "limit": limit, "session": session}))

    def get(self, id: str) -> StoredMemory:
        """Returns a memory by its id, or by a unique prefix of it; raises ``NotFound``."""
        return self._run(calls.get(id))

    def list(
        self,
        *,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        statuses: Sequence[str] | None = None,
        session: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int | None = None,
        after: str | None = None,
        oldest_first: bool = False,
    ) -> Page:
        """Lists a page of memories, newest first; ``next`` of a page is ``after`` of the next one.

        >>> memory = Memory.open(":memory:")
        >>> for day in ("Monday", "Tuesday", "Wednesday"):
        ...     saved = memory.remember(f"The team meets on {day}", tags=["team"])
        >>> [found.content for found in memory.list(tags=["team"], limit=2, oldest_first=True)]
        ['The team meets on Monday', 'The team meets on Tuesday']
        """
        return self._run(calls.list_page(_filters(locals()), _page(locals())))

    def edit(
        self,
        id: str,
        *,
        content: str | None = None,
        name: str | None = None,
        description: str | None = None,
        kind: str | None = None,
        tags: Sequence[str] | None = None,
        importance: float | None = None,
        weight: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> StoredMemory:
        """Changes a memory and returns its new state; what is left out stays."""
        return self._run(calls.edit(id, _edit_fields(locals())))

    def delete(self, id: str) -> int:
        """Deletes a memory and returns the number of the change; ``undo(seq)`` brings it back."""
        return self._run(calls.delete(id))

    def forget(self, id: str) -> Forgotten:
        """Erases a memory and every trace of its text for good. Takes the full id.

        >>> memory = Memory.open(":memory:")
        >>> saved = memory.remember("My old phone number was 555-0100")
        >>> len(memory.forget(saved.id).ids)
        1
        >>> memory.get(saved.id)
        Traceback (most recent call last):
        ...
        everlore._errors.NotFound: ...
        """
        return self._run(calls.forget(id))

    def history(
        self, id: str | None = None, *, run: str | None = None, limit: int | None = None, before: int | None = None
    ) -> tuple[Change, ...]:
        """Lists changes, newest first: all of them, or those of a memory or a run.

        >>> memory = Memory.open(":memory:")
        >>> saved = memory.remember("发布日期是五月三日")
        >>> edited = memory.edit(saved.id, content="发布日期是五月九日")
        >>> [change.op for change in memory.history(saved.id)]
        ['update', 'add']
        """
        return self._run(calls.history({"id": id, "run": run, "limit": limit, "before": before}))

    def undo(self, seq: int | None = None, *, run: str | None = None) -> Undone:
        """Undoes a change, all changes of a run, or the newest step; called again, it goes back step by step.

        >>> memory = Memory.open(":memory:")
        >>> saved = memory.remember("The launch is on May 3")
        >>> edited = memory.edit(saved.id, content="The launch is on May 9")
        >>> undone = memory.undo()
        >>> memory.get(saved.id).content
        'The launch is on May 3'
        """
        return self._run(calls.undo(seq, run))

    def redo(self) -> Undone:
        """Redoes what was undone last, unless something was changed since."""
        return self._run(calls.redo())

    def extract(self, session: str | None = None) -> tuple[Extraction, ...]:
        """Extracts memories from observed turns now: with the chat model of the settings, or by rules.

        A server does so by itself, some minutes after a conversation.
        """
        return self._run(calls.extract(session))


class AsyncMemoryApi(ABC):
    """Memory of one agent and one user, to await: the methods of ``Memory``, with the same arguments and results."""

    @abstractmethod
    async def _run(self, call: Call[T]) -> T:
        """Carries a call out."""

    @abstractmethod
    async def close(self) -> None:
        """Ends the connection; repeating it does nothing."""

    @property
    @abstractmethod
    def agent(self) -> str:
        """The agent whose memory it is."""

    @property
    @abstractmethod
    def user(self) -> str:
        """The user whom it is about."""

    async def remember(
        self,
        content: str,
        *,
        kind: str | None = None,
        name: str | None = None,
        description: str | None = None,
        tags: Sequence[str] | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        at: Moment | None = None,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        replaces: str | None = None,
    ) -> Saved:
        """Saves a statement, or renews the memory that says the same."""
        return await self._run(calls.remember(content, _remember_fields(locals())))

    async def observe(
        self, turns: Iterable[TurnLike] | TurnLike, *, session: str | None = None
    ) -> tuple[Saved, ...]:
        """Stores turns of a conversation, word for word, all or none."""
        return await self._run(calls.observe(turns, session))

    async def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        statuses: Sequence[str] | None = None,
        session: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        as_of: Moment | None = None,
        min_score: float | None = None,
        min_confidence: float | None = None,
    ) -> Recall:
        """Finds the memories that matter for a query, best first."""
        return await self._run(calls.recall(query, _filters(locals()), _limits(locals())))

    async def context(
        self, query: str, *, budget: int | None = None, limit: int | None = None, session: str | None = None
    ) -> Context:
        """Builds the block for a system prompt; empty if nothing is relevant."""
        return await self._run(calls.context(query, {"budget": budget, "limit": limit, "session": session}))

    async def get(self, id: str) -> StoredMemory:
        """Returns a memory by its id, or by a unique prefix of it; raises ``NotFound``."""
        return await self._run(calls.get(id))

    async def list(
        self,
        *,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        statuses: Sequence[str] | None = None,
        session: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int | None = None,
        after: str | None = None,
        oldest_first: bool = False,
    ) -> Page:
        """Lists a page of memories, newest first."""
        return await self._run(calls.list_page(_filters(locals()), _page(locals())))

    async def edit(
        self,
        id: str,
        *,
        content: str | None = None,
        name: str | None = None,
        description: str | None = None,
        kind: str | None = None,
        tags: Sequence[str] | None = None,
        importance: float | None = None,
        weight: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> StoredMemory:
        """Changes a memory and returns its new state; what is left out stays."""
        return await self._run(calls.edit(id, _edit_fields(locals())))

    async def delete(self, id: str) -> int:
        """Deletes a memory and returns the number of the change; ``undo(seq)`` brings it back."""
        return await self._run(calls.delete(id))

    async def forget(self, id: str) -> Forgotten:
        """Erases a memory and every trace of its text for good. Takes the full id."""
        return await self._run(calls.forget(id))

    async def history(
        self, id: str | None = None, *, run: str | None = None, limit: int | None = None, before: int | None = None
    ) -> tuple[Change, ...]:
        """Lists changes, newest first: all of them, or those of a memory or a run."""
        return await self._run(calls.history({"id": id, "run": run, "limit": limit, "before": before}))

    async def undo(self, seq: int | None = None, *, run: str | None = None) -> Undone:
        """Undoes a change, all changes of a run, or the newest step."""
        return await self._run(calls.undo(seq, run))

    async def redo(self) -> Undone:
        """Redoes what was undone last, unless something was changed since."""
        return await self._run(calls.redo())

    async def extract(self, session: str | None = None) -> tuple[Extraction, ...]:
        """Extracts memories from observed turns now."""
        return await self._run(calls.extract(session))


_REMEMBER = (
    "kind", "name", "description", "tags", "importance", "confidence", "at", "session", "speaker", "role", "metadata",
    "replaces",
)  # fmt: skip
_EDIT = ("content", "name", "description", "kind", "tags", "importance", "weight", "metadata")
_FILTERS = ("kinds", "tags", "statuses", "session", "since", "until")
_LIMITS = ("limit", "as_of", "min_score", "min_confidence")


def _pick(arguments: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: _as_list(arguments[name]) for name in names}


def _as_list(value: Any) -> Any:
    return builtins.list(value) if isinstance(value, (tuple, set, frozenset)) else value


def _remember_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {**_pick(arguments, _REMEMBER), "tags": calls.tags_of(arguments["tags"])}


def _edit_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {**_pick(arguments, _EDIT), "tags": calls.tags_of(arguments["tags"])}


def _filters(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _pick(arguments, _FILTERS)


def _limits(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _pick(arguments, _LIMITS)


def _page(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {**_pick(arguments, ("limit", "after")), "oldest_first": arguments["oldest_first"] or None}
