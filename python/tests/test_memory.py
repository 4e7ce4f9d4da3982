"""The engine in this process."""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import everlore
from contract import AsyncContract, Contract


class TestHome(Contract):
    """The contract of every memory, in a home folder."""

    @pytest.fixture
    def memory(self, tmp_path):
        with everlore.Memory.open(tmp_path / "home") as memory:
            yield memory


class TestRam(Contract):
    """The contract of every memory, in this process only."""

    @pytest.fixture
    def memory(self):
        with everlore.Memory.open(":memory:") as memory:
            yield memory


class TestAsyncHome(AsyncContract):
    """The contract of every memory to await, in a home folder."""

    @pytest.fixture
    def opener(self, tmp_path):
        return lambda: everlore.AsyncMemory.open(tmp_path / "home")


def test_memories_survive_and_other_scopes_do_not_see_them(tmp_path):
    with everlore.Memory.open(tmp_path, agent="assistant", user="ana") as ana:
        saved = ana.remember("I'm allergic to peanuts")
    with everlore.Memory.open(tmp_path, agent="assistant", user="ana") as again:
        assert again.get(saved.id).content == "I'm allergic to peanuts"
        assert (again.agent, again.user) == ("assistant", "ana")
    for agent, user in (("assistant", "小美"), ("other", "ana")):
        with everlore.Memory.open(tmp_path, agent=agent, user=user) as other:
            assert not other.recall("am I allergic to anything?") and len(other.list()) == 0
            for forbidden in (other.get, other.delete, other.forget):
                with pytest.raises(everlore.NotFound):
                    forbidden(saved.id)


def test_two_memories_of_one_process_are_apart():
    first, second = everlore.Memory.open(":memory:"), everlore.Memory.open(":memory:")
    first.remember("我喜欢喝龙井茶")
    assert len(first.list()) == 1 and len(second.list()) == 0


def test_the_default_home_is_that_of_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("EVERLORE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("EVERLORE_USER", "小美")
    with everlore.Memory.open() as memory:
        memory.remember("我对花生过敏")
        assert memory.user == "小美"
    assert (tmp_path / "home" / "everlore.db").exists()


def test_a_bad_home_is_refused_with_advice(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(everlore.EverloreError) as refused:
        everlore.Memory.open(tmp_path / "file" / "home")
    assert refused.value.hint
    (tmp_path / "config.toml").write_text("[memory]\nenabled = 7\n")
    with pytest.raises(everlore.Invalid, match="enabled"):
        everlore.Memory.open(tmp_path)


def test_many_threads_share_a_memory(tmp_path):
    with everlore.Memory.open(tmp_path) as memory:
        failures = []

        def work(number: int) -> None:
            try:
                memory.remember(f"Drawer {number} holds tool {number}")
                assert memory.recall(f"what is in drawer {number}?")
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert not failures and len(memory.list()) == 8


def test_calls_release_the_gil(tmp_path):
    with everlore.Memory.open(tmp_path) as memory:
        counted, stop = [0], threading.Event()

        def count() -> None:
            while not stop.is_set():
                counted[0] += 1

        counter = threading.Thread(target=count)
        counter.start()
        before = counted[0]
        memory.observe([f"Note number {number} about shelf {number}" for number in range(200)])
        during = counted[0] - before
        stop.set()
        counter.join()
    # With the GIL held it would have counted nothing.
    assert during > 100


def _child(memory: everlore.Memory, pipe) -> None:
    try:
        memory.remember("孩子进程记下了这句话")
        pipe.send((len(memory.list()), memory.user))
    except everlore.EverloreError as error:
        pipe.send(error.code)


def _forked(memory: everlore.Memory):
    ours, theirs = multiprocessing.get_context("fork").Pipe()
    child = multiprocessing.get_context("fork").Process(target=_child, args=(memory, theirs))
    child.start()
    assert ours.poll(60), "the child hangs"
    answer = ours.recv()
    child.join(60)
    assert child.exitcode == 0
    return answer


def test_a_forked_child_opens_the_home_again(tmp_path):
    with everlore.Memory.open(tmp_path, user="ana") as memory:
        memory.remember("The parent saved this")
        assert _forked(memory) == (2, "ana")
        assert len(memory.list()) == 2 and memory.recall("谁记下了这句话？")


def test_forks_among_busy_threads_lose_nothing(tmp_path):
    with everlore.Memory.open(tmp_path) as memory:
        saved, failures, stop = [], [], threading.Event()

        def work(number: int) -> None:
            while not stop.is_set():
                try:
                    saved.append(memory.remember(f"Worker {number} put part {len(saved)} on shelf {number}").id)
                except Exception as error:
                    failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        [thread.start() for thread in threads]
        for _ in range(4):
            _forked(memory)
        stop.set()
        [thread.join() for thread in threads]
        assert not failures
        assert all(memory.get(id).status == "active" for id in saved) and len(saved) > 4
    doctor = run_everlore("--home", str(tmp_path), "doctor")
    assert doctor.returncode == 0, doctor.stdout


async def test_an_awaited_memory_goes_on_after_a_fork(tmp_path):
    async with await everlore.AsyncMemory.open(tmp_path) as memory:
        await memory.remember("前面说过的话")
        child = os.fork()
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert len(await memory.list()) == 1


def test_a_forked_child_is_told_that_ram_is_not_shared():
    with everlore.Memory.open(":memory:") as memory:
        assert _forked(memory) == "forked"
        assert memory.remember("The parent goes on").id


def test_a_forked_child_may_exit_and_collect(tmp_path):
    memory = everlore.Memory.open(tmp_path)
    child = os.fork()
    if child == 0:
        del memory
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert memory.remember("Still open here").id


def test_ctrl_c_interrupts_a_call(tmp_path):
    code = f"""
import everlore, sys, threading, os, signal, time
memory = everlore.Memory.open({str(tmp_path)!r})
def interrupt():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    while True:
        memory.observe([f"note {{n}}" for n in range(300)])
except KeyboardInterrupt:
    assert memory.remember("after the interruption").id
    print("interrupted")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.stdout.strip() == "interrupted", ran.stderr


def test_a_process_may_end_without_close(tmp_path):
    code = f"import everlore; m = everlore.Memory.open({str(tmp_path)!r}); print(m.remember('我住在杭州').id)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    with everlore.Memory.open(tmp_path) as memory:
        assert memory.get(ran.stdout.strip()).content == "我住在杭州"


async def test_awaited_calls_run_at_once_and_can_be_cancelled(tmp_path):
    async with await everlore.AsyncMemory.open(tmp_path) as memory:
        saved = await asyncio.gather(*(memory.remember(f"Shelf {n} holds box {n}") for n in range(20)))
        assert len({one.id for one in saved}) == 20
        call = asyncio.create_task(memory.observe([f"long note {n}" for n in range(500)]))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await memory.recall("what does shelf 7 hold?"))[0].content == "Shelf 7 holds box 7"


def test_an_event_loop_that_ends_early_is_no_harm(tmp_path):
    memory = asyncio.run(everlore.AsyncMemory.open(tmp_path))

    async def leave() -> None:
        task = asyncio.create_task(memory.observe(["a", "b"]))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    assert isinstance(asyncio.run(memory.list()), everlore.Page)
    asyncio.run(memory.close())


def run_everlore(*args: str, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "everlore", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def test_the_command_shares_the_home(tmp_path):
    with everlore.Memory.open(tmp_path) as memory:
        memory.remember("我喜欢喝龙井茶")
        answer = run_everlore("--home", str(tmp_path), "recall", "喝什么茶？", "--json")
        assert json.loads(answer.stdout)["hits"][0]["content"] == "我喜欢喝龙井茶", answer
    assert run_everlore("--version").stdout.split()[1] == everlore.__version__


def test_the_command_has_exit_codes(tmp_path):
    home = ("--home", str(tmp_path))
    assert run_everlore(*home, "remember", "The spare key is under the mat").returncode == 0
    assert run_everlore(*home, "memory", "show", "0199ffff").returncode == 2
    assert run_everlore(*home, "no-such-command").returncode == 2


def test_ctrl_c_ends_the_command(tmp_path):
    command = [sys.executable, "-m", "everlore", "--home", str(tmp_path), "serve", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (tmp_path / "server.json").exists():
        assert server.poll() is None
        time.sleep(0.05)
    server.send_signal(signal.SIGINT)
    assert server.wait(30) in (0, -signal.SIGINT)


def test_agents_are_told_to_start_the_script(tmp_path):
    script = tmp_path / "bin" / "everlore"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nimport sys\nfrom everlore._command import main\nsys.exit(main())\n")
    script.chmod(0o755)
    home = tmp_path / "home"
    env = {**os.environ, "HOME": str(tmp_path)}
    (tmp_path / ".cursor").mkdir()
    command = [str(script), "--home", str(home), "connect", "cursor", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    settings = (tmp_path / ".cursor" / "mcp.json").read_text()
    assert json.loads(settings)["mcpServers"]["everlore"]["command"] == str(script), ran
