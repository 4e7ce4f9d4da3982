"""The OpenAI Agents SDK with real runs; only the model behind it is a script."""

from __future__ import annotations

import json

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.memory import Session
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import everlore
from everlore.adapters.openai_agents import EverloreSession, memory_tools

UNTRACED = RunConfig(tracing_disabled=True)


class ScriptedModel(Model):
    """Gives the next output of a script and keeps what it was asked."""

    def __init__(self, *outputs) -> None:
        self.outputs, self.inputs = list(outputs), []

    async def get_response(self, system_instructions, input, *args, **kwargs) -> ModelResponse:
        self.inputs.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def says(text: str) -> ResponseOutputMessage:
    content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
    return ResponseOutputMessage(id="msg_1", content=content, role="assistant", status="completed", type="message")


def calls(name: str, **arguments) -> ResponseFunctionToolCall:
    packed = json.dumps(arguments)
    return ResponseFunctionToolCall(name=name, arguments=packed, call_id=f"call_{name}", type="function_call", id="fc_1")


@pytest.fixture
def memory(tmp_path):
    with everlore.Memory.open(tmp_path) as memory:
        yield memory


async def test_a_session_goes_on_in_the_next_run(memory):
    model = ScriptedModel(says("Noted."), says("好的。"))
    agent = Agent(name="assistant", model=model)
    assert isinstance(EverloreSession(memory, "monday"), Session)
    await Runner.run(agent, "My dentist is on Elm street", session=EverloreSession(memory, "monday"), run_config=UNTRACED)
    await Runner.run(agent, "支付模块周三上线", session=EverloreSession(memory, "monday"), run_config=UNTRACED)
    said = [(item["role"], item["content"]) for item in model.inputs[1]]
    assert said == [("user", "My dentist is on Elm street"), ("assistant", "Noted."), ("user", "支付模块周三上线")]
    assert memory.recall("where is my dentist?")[0].content == "My dentist is on Elm street"


async def test_calls_of_tools_are_kept(memory):
    @function_tool
    def weather(city: str) -> str:
        """Tell the weather."""
        return f"{city}：晴"

    model = ScriptedModel(calls("weather", city="杭州"), says("晴天"), says("再见"))
    agent = Agent(name="assistant", model=model, tools=[weather])
    session = EverloreSession(memory, "s")
    await Runner.run(agent, "杭州天气怎么样？", session=session, run_config=UNTRACED)
    items = await session.get_items()
    assert [item.get("type", "message") for item in items] == ["message", "function_call", "function_call_output", "message"]
    assert items[1]["call_id"] == items[2]["call_id"] == "call_weather" and "id" not in items[1]
    assert items[2]["output"] == "杭州：晴"
    await Runner.run(agent, "谢谢", session=session, run_config=UNTRACED)
    assert model.inputs[-1][:4] == items


async def test_items_are_limited_popped_and_cleared(memory):
    session, other = EverloreSession(memory, "s"), EverloreSession(memory, "t")
    await session.add_items([{"role": "user", "content": f"message {number}"} for number in range(4)])
    await other.add_items([{"role": "user", "content": "another session"}])
    assert [item["content"] for item in await session.get_items(limit=2)] == ["message 2", "message 3"]
    assert (await session.pop_item())["content"] == "message 3"
    await session.clear_session()
    assert await session.get_items() == [] and await session.pop_item() is None
    assert len(await other.get_items()) == 1


async def test_reasoning_is_left_out_and_pictures_are_kept(memory):
    session = EverloreSession(memory, "s")
    picture = {"role": "user", "content": [{"type": "input_image", "image_url": "https://example.com/a.png"}]}
    await session.add_items([{"type": "reasoning", "id": "rs_1", "summary": []}, picture])
    assert await session.get_items() == [picture]


async def test_an_agent_remembers_and_recalls_by_itself(memory):
    model = ScriptedModel(
        calls("remember", statement="小美对花生过敏"), says("记住了"), calls("recall", query="小美对什么过敏？"), says("花生")
    )
    agent = Agent(name="assistant", model=model, tools=memory_tools(memory))
    await Runner.run(agent, "记住：小美对花生过敏", run_config=UNTRACED)
    result = await Runner.run(agent, "小美对什么过敏？", run_config=UNTRACED)
    outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    assert "小美对花生过敏" in outputs[0]
