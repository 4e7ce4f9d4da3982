"""LlamaIndex's memory, in a real chat engine."""

from __future__ import annotations

import pytest
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage, MessageRole, MockLLM

import everlore
from everlore.adapters.llama_index import EverloreMemory


@pytest.fixture
def memory(tmp_path):
    with everlore.Memory.open(tmp_path) as memory:
        yield memory


def test_a_chat_engine_knows_what_an_earlier_chat_told(memory):
    earlier = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=EverloreMemory(memory, "monday"))
    earlier.chat("I'm allergic to peanuts")
    later = EverloreMemory(memory, "tuesday")
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=later)
    # The mock answers with the prompt that it got.
    answer = engine.chat("What could I cook? Am I allergic to anything?").response
    assert "peanuts" in answer
    assert [message.role for message in later.get_all()] == [MessageRole.USER, MessageRole.ASSISTANT]


def test_messages_come_back_as_they_were(memory):
    chat = EverloreMemory(memory, "s")
    messages = [
        ChatMessage(role="user", content="今天天气怎么样？"),
        ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [{"id": "c1"}]}),
        ChatMessage(role="tool", content="晴", additional_kwargs={"tool_call_id": "c1"}),
        ChatMessage(role="assistant", content="晴天"),
    ]
    chat.put_messages(messages)
    assert chat.get_all() == messages
    chat.set(messages[:1])
    assert chat.get_all() == messages[:1]
    chat.reset()
    assert chat.get_all() == [] and chat.get() == []


async def test_it_can_be_awaited_and_keeps_its_limit(memory):
    chat = EverloreMemory.from_defaults(memory, session_id="s", message_limit=2)
    for number in range(4):
        await chat.aput(ChatMessage(role="user", content=f"message {number}"))
    recent = [message.content for message in await chat.aget("xyzzy") if message.role == MessageRole.USER]
    assert recent == ["message 2", "message 3"] and len(await chat.aget_all()) == 4
