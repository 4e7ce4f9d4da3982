"""CrewAI's external memory, in a real crew."""

from __future__ import annotations

import pytest
from crewai import Agent, BaseLLM, Crew, Task

import everlore
from everlore.adapters.crewai import EverloreStorage, external_memory


class RecordingModel(BaseLLM):
    """Answers always the same and keeps the prompts."""

    def __init__(self) -> None:
        super().__init__(model="recording")
        self.prompts: list[str] = []

    def call(self, messages, *args, **kwargs):
        self.prompts.append(str(messages))
        return "Thought: I now can give a great answer\nFinal Answer: Dinner is rice with vegetables"

    def supports_function_calling(self) -> bool:
        return False

    def get_context_window_size(self) -> int:
        return 8192


@pytest.fixture(autouse=True)
def _no_telemetry(monkeypatch):
    """Keeps the framework from reporting the test."""
    for name, value in (("CREWAI_DISABLE_TELEMETRY", "true"), ("OTEL_SDK_DISABLED", "true"), ("CREWAI_TRACING_ENABLED", "false")):
        monkeypatch.setenv(name, value)


@pytest.fixture
def memory(tmp_path):
    with everlore.Memory.open(tmp_path) as memory:
        yield memory


def test_a_crew_knows_and_keeps(memory):
    memory.remember("The user is allergic to peanuts")
    model = RecordingModel()
    cook = Agent(role="cook", goal="plan a dinner", backstory="You cook.", llm=model)
    task = Task(description="Plan a dinner. What is the user allergic to?", expected_output="a dish", agent=cook)
    crew = Crew(agents=[cook], tasks=[task], external_memory=external_memory(memory))
    assert "rice" in str(crew.kickoff())
    assert any("allergic to peanuts" in prompt for prompt in model.prompts)
    assert "rice with vegetables" in memory.recall("what was planned for dinner?")[0].content


def test_save_search_and_reset(memory):
    storage = EverloreStorage(memory)
    kept = memory.remember("这条不是团队存的")
    storage.save("小美喜欢喝龙井茶", {"agent": "waiter", "steps": (1, 2), "task": object()})
    (hit,) = storage.search("小美喝什么茶？", limit=1)
    assert hit["content"] == "小美喜欢喝龙井茶" and hit["metadata"]["crewai"]["agent"] == "waiter"
    storage.reset()
    assert [left.id for left in memory.list()] == [kept.id]
