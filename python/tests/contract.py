"""The contract of every memory: one suite for the engine in this process and for a server."""

from __future__ import annotations

import pytest

import everlore


class Contract:
    """Tests of the methods; a subclass has the fixture ``memory``, empty for each test."""

    def test_a_statement_is_recalled_in_other_words(self, memory):
        memory.remember("I'm allergic to peanuts")
        memory.remember("我喜欢喝龙井茶，每天早上一杯")
        english, chinese = memory.recall("am I allergic to anything?"), memory.recall("早上喝什么茶？")
        assert english[0].content == "I'm allergic to peanuts" and 0 < english[0].score <= 1
        assert chinese[0].content == "我喜欢喝龙井茶，每天早上一杯" and chinese.confidence > 0

    def test_nothing_relevant_is_nothing(self, memory):
        memory.remember("The printer is on the third floor")
        recalled = memory.recall("xyzzy quux", min_confidence=0.99)
        assert not recalled and recalled.abstained and list(recalled) == []
        assert not memory.context("thanks!") and str(memory.context("thanks!")) == ""

    def test_fields_come_back_as_given(self, memory):
        given = {"kind": "project", "name": "Launch", "tags": ["work", "发布"], "importance": 0.9}
        saved = memory.remember("The launch is on May 3", metadata={"ticket": {"id": 7}}, session="plan", **given)
        found = memory.get(saved.id)
        assert (found.kind, found.name, found.tags, found.importance) == ("project", "Launch", ("work", "发布"), 0.9)
        assert found.metadata["ticket"] == {"id": 7} and found.session == "plan"
        assert found.created_at.tzinfo is not None and found.status == "active"

    def test_turns_keep_role_order_and_session(self, memory):
        memory.observe([("user", "支付模块周三上线。"), {"role": "assistant", "content": "好的。"}], session="s1")
        memory.observe("Something else entirely", session="s2")
        turns = memory.list(session="s1", kinds=["turn"], oldest_first=True)
        assert [(turn.role, turn.content) for turn in turns] == [("user", "支付模块周三上线。"), ("assistant", "好的。")]

    def test_a_block_has_what_matters_and_keeps_its_budget(self, memory):
        memory.observe([("user", "My landlord is called Mr. Silva and the rent is 1450 euros.")], session="monday")
        block = memory.context("how much is my rent?", budget=200, session="tuesday")
        assert "1450" in block.text and 0 < block.tokens <= 200 and len(block.entries) == 1

    def test_a_newer_statement_supersedes(self, memory):
        old = memory.remember("我住在上海")
        new = memory.remember("我现在住在杭州")
        assert new.superseded == (old.id,)
        assert memory.get(old.id).superseded_by == new.id
        memory.undo(run=new.run)
        assert memory.get(old.id).status == "active"

    def test_secrets_are_masked(self, memory):
        saved = memory.remember("my key is sk-proj-Abcdefghij0123456789Abcdefghij0123456789")
        assert saved.masked and "Abcdefghij" not in memory.get(saved.id).content

    def test_changes_are_journaled_undone_and_redone(self, memory):
        saved = memory.remember("The launch is on May 3")
        memory.edit(saved.id, content="The launch is on May 9")
        changes = memory.history(saved.id)
        assert [change.op for change in changes] == ["update", "add"]
        assert changes[0].before.content.endswith("May 3") and changes[0].after.content.endswith("May 9")
        memory.undo()
        assert memory.get(saved.id).content.endswith("May 3")
        memory.redo()
        assert memory.get(saved.id).content.endswith("May 9")

    def test_a_deleted_memory_can_come_back_and_a_forgotten_one_not(self, memory):
        saved = memory.remember("外婆的电话是 555-0100")
        seq = memory.delete(saved.id)
        memory.undo(seq)
        assert memory.get(saved.id).content.startswith("外婆")
        assert memory.forget(saved.id).ids == (saved.id,)
        with pytest.raises(everlore.NotFound):
            memory.get(saved.id)
        with pytest.raises(everlore.EverloreError):
            memory.undo(seq)

    def test_pages_follow_each_other(self, memory):
        for number in range(5):
            memory.remember(f"Room {number} has {number} windows", tags=["rooms"])
        first = memory.list(tags=["rooms"], limit=3)
        second = memory.list(tags=["rooms"], limit=3, after=first.next)
        assert len(first) == 3 and len(second) == 2 and second.next is None
        assert len({found.id for found in [*first, *second]}) == 5

    def test_filters_narrow_a_recall(self, memory):
        memory.remember("The cat sleeps on the sofa", tags=["home"])
        memory.remember("The cat of the office sleeps on the printer", tags=["work"])
        assert [hit.tags for hit in memory.recall("where does the cat sleep?", tags=["work"])] == [("work",)]

    def test_turns_become_memories(self, memory):
        memory.observe([("user", "I'm vegetarian and I live in Lisbon.")], session="s1")
        (report,) = memory.extract("s1")
        assert report.turns == 1 and any("vegetarian" in text for text in report.stored)

    def test_bad_input_is_refused_with_advice(self, memory):
        for call in (
            lambda: memory.remember(""),
            lambda: memory.remember("x", importance=7),
            lambda: memory.remember("x", kind="nonsense"),
            lambda: memory.recall("x", min_score=2),
            lambda: memory.undo(1, run="both"),
        ):
            with pytest.raises(everlore.Invalid) as refused:
                call()
            assert refused.value.hint and isinstance(refused.value, ValueError)

    def test_an_unknown_id_is_not_found(self, memory):
        with pytest.raises(everlore.NotFound) as missing:
            memory.get("0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000")
        assert missing.value.code == "not_found" and isinstance(missing.value, LookupError)

    def test_a_turn_with_an_unknown_field_is_refused(self, memory):
        with pytest.raises(TypeError, match="rolle"):
            memory.observe([{"content": "hi", "rolle": "user"}])

    def test_a_closed_memory_refuses(self, memory):
        memory.close()
        memory.close()
        with pytest.raises(everlore.Closed):
            memory.recall("anything")


class AsyncContract:
    """Tests of the methods to await; a subclass has the fixture ``opener``."""

    async def test_a_statement_is_recalled_in_other_words(self, opener):
        async with await opener() as memory:
            await memory.remember("I'm allergic to peanuts")
            await memory.remember("我喜欢喝龙井茶，每天早上一杯")
            assert (await memory.recall("am I allergic to anything?"))[0].content == "I'm allergic to peanuts"
            assert "龙井" in (await memory.context("早上喝什么茶？", budget=300)).text

    async def test_turns_changes_and_erasure(self, opener):
        async with await opener() as memory:
            (turn,) = await memory.observe("支付模块周三上线。", session="s1")
            assert [found.id for found in await memory.list(session="s1")] == [turn.id]
            saved = await memory.remember("The launch is on May 3")
            edited = await memory.edit(saved.id, content="The launch is on May 9")
            assert edited.version == 2 and len(await memory.history(saved.id)) == 2
            await memory.undo()
            await memory.redo()
            await memory.delete(turn.id)
            assert (await memory.forget(saved.id)).ids == (saved.id,)
            assert isinstance(await memory.extract(), tuple)
            with pytest.raises(everlore.NotFound):
                await memory.get(saved.id)

    async def test_a_closed_memory_refuses(self, opener):
        memory = await opener()
        await memory.close()
        with pytest.raises(everlore.Closed):
            await memory.recall("anything")
