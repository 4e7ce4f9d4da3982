"""Pydantic AI with real runs; only the model behind it is a function."""

from __future__ import annotations

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import everlore
from everlore.adapters.pydantic_ai import memory_instructions, memory_toolset, observe_messages


@pytest.fixture
def memory(tmp_path):
    with everlore.Memory.open(tmp_path) as memory:
        yield memory


def test_instructions_have_what_matters_for_the_prompt(memory):
    memory.remember("I'm allergic to peanuts")
    seen = []

    def answer(messages, info):
        seen.append(messages[-1].instructions or "")
        return ModelResponse(parts=[TextPart("Rice.")])

    agent = Agent(FunctionModel(answer), instructions=["Be brief.", memory_instructions(memory, budget=300)])
    agent.run_sync("What could I cook? Am I allergic to anything?")
    agent.run_sync("Thanks!")
    assert "peanuts" in seen[0] and seen[0].startswith("Be brief.")
    assert "peanuts" not in seen[1]


def test_an_agent_remembers_and_recalls_by_itself(memory):
    steps = [
        ToolCallPart("remember", {"statement": "小美对花生过敏"}),
        TextPart("记住了"),
        ToolCallPart("recall", {"query": "小美对什么过敏？"}),
        TextPart("花生"),
    ]
    agent = Agent(FunctionModel(lambda messages, info: ModelResponse(parts=[steps.pop(0)])), toolsets=[memory_toolset(memory)])
    assert agent.run_sync("记住：小美对花生过敏").output == "记住了"
    result = agent.run_sync("小美对什么过敏？")
    returned = [part.content for message in result.all_messages() for part in message.parts if part.part_kind == "tool-return"]
    assert result.output == "花生" and "小美对花生过敏" in returned[0]


def test_runs_are_kept_as_turns(memory):
    agent = Agent(FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart("Noted.")])))
    result = agent.run_sync("My dentist is on Elm street")
    observe_messages(memory, result.new_messages(), session="monday")
    turns = memory.list(session="monday", oldest_first=True)
    assert [(turn.role, turn.content) for turn in turns] == [("user", "My dentist is on Elm street"), ("assistant", "Noted.")]
    assert memory.recall("where is my dentist?")
