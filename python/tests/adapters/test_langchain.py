"""LangChain's chat history and retriever, in real chains."""

from __future__ import annotations

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

import everlore
from everlore.adapters.langchain import EverloreChatMessageHistory, EverloreRetriever


@pytest.fixture
def memory(tmp_path):
    with everlore.Memory.open(tmp_path) as memory:
        yield memory


def test_a_chain_keeps_its_history(memory):
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
    seen = []
    model = FakeListChatModel(responses=["Noted.", "好的。"])
    spy = prompt | (lambda value: seen.append(value.to_messages()) or value) | model
    chain = RunnableWithMessageHistory(
        spy,
        lambda session: EverloreChatMessageHistory(memory, session),
        input_messages_key="question",
        history_messages_key="history",
    )
    monday = {"configurable": {"session_id": "monday"}}
    chain.invoke({"question": "My dentist is on Elm street"}, monday)
    chain.invoke({"question": "支付模块周三上线"}, monday)
    assert [message.content for message in seen[1]] == ["My dentist is on Elm street", "Noted.", "支付模块周三上线"]
    other = EverloreChatMessageHistory(memory, "tuesday")
    assert other.messages == []
    assert memory.recall("where is my dentist?")[0].content == "My dentist is on Elm street"


def test_messages_come_back_as_they_were(memory):
    history = EverloreChatMessageHistory(memory, "s")
    call = {"name": "search", "args": {"query": "天气"}, "id": "c1", "type": "tool_call"}
    messages = [
        SystemMessage("Be brief"),
        HumanMessage("今天天气怎么样？"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("晴", tool_call_id="c1"),
        AIMessage("晴天"),
    ]
    history.add_messages(messages)
    read = history.messages
    assert [(type(message), message.content) for message in read] == [(type(it), it.content) for it in messages]
    assert read[2].tool_calls == [call] and read[3].tool_call_id == "c1"
    history.clear()
    assert history.messages == []


async def test_the_history_can_be_awaited(memory):
    history = EverloreChatMessageHistory(memory, "s")
    await history.aadd_messages([HumanMessage("hello there")])
    assert [message.content for message in await history.aget_messages()] == ["hello there"]
    await history.aclear()
    assert await history.aget_messages() == []


def test_a_retriever_feeds_a_chain(memory):
    memory.remember("I'm allergic to peanuts")
    memory.remember("The printer is on the third floor")
    retriever = EverloreRetriever(memory=memory, k=1)
    prompt = ChatPromptTemplate.from_template("{facts}\n\n{question}")
    facts = retriever | (lambda documents: "\n".join(document.page_content for document in documents))
    chain = {"facts": facts, "question": RunnablePassthrough()} | prompt
    assert "peanuts" in chain.invoke("am I allergic to anything?").to_string()
    (document,) = retriever.invoke("am I allergic to anything?")
    assert document.metadata["score"] > 0 and document.metadata["kind"] == "user"


async def test_the_retriever_can_be_awaited(memory):
    memory.remember("我喜欢喝龙井茶")
    (document,) = await EverloreRetriever(memory=memory, k=1).ainvoke("喝什么茶？")
    assert document.page_content == "我喜欢喝龙井茶"
