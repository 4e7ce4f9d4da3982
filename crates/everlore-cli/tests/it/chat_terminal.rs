//! `everlore chat` at a real terminal: streamed answers, tools, Ctrl+C, a new size, Chinese, and the end.

use std::fs;

use everlore_mock_llm::{MockChat, MockServer, ModelResponse};
use serde_json::json;

use crate::{
    chat::{chat_home, log, messages, turns},
    home::TestHome,
    terminal::{BACKSPACE, CTRL_C, CTRL_D, TestTerminal, UP},
};

fn chat(home: &TestHome) -> TestTerminal {
    TestTerminal::start(home, &["chat", "--session", "monday"], &[])
}

fn last_question(server: &MockServer, request: usize) -> String {
    let messages = messages(server, request);
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[test]
fn an_answer_is_seen_while_it_comes_rendered_and_the_end_is_summed_up() {
    let story = "Hello **Anna**, this is a long story about a kitchen in Lisbon.\n\n- The end.";
    let chats = MockChat::new()
        .then(ModelResponse::text(story).held_after(10))
        .says("- Anna heard a story about a kitchen in Lisbon");
    let (server, home) = chat_home(chats);
    let terminal = chat(&home);
    terminal.wait_for_text("openai/scripted-chat · conversation monday");
    terminal.type_line("Tell me a story");
    server.await_held();
    terminal.wait_for_text("Hello Anna, this is");
    assert!(!terminal.screen().contains("The end."), "{}", terminal.screen());
    assert!(terminal.is_bold("Anna"));
    server.release();
    terminal.wait_for_text("• The end.");
    terminal.wait_for_text("0 memories · 20 tokens read, 0 cached, 7 written");
    terminal.type_line("/quit");
    terminal.wait_for_text("summarizing the conversation");
    terminal.wait_for_text("logged: 2 turns in");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert!(log(&home).contains("- Anna heard a story about a kitchen"), "{}", log(&home));
    assert_eq!(turns(&home), ["Tell me a story", story]);
}

#[test]
fn tools_are_seen_and_their_failures_too() {
    let save =
        json!({ "action": "create", "type": "user", "name": "房东", "content": "房东叫王先生" });
    let chats = MockChat::new()
        .calls("memory_save", save)
        .says("记下了。")
        .calls("memory_save", json!({ "action": "delete", "id": "0000" }))
        .says("没有找到。")
        .otherwise(|_| ModelResponse::text("- 房东"));
    let (_server, home) = chat_home(chats);
    let terminal = chat(&home);
    terminal.type_line("记住我的房东");
    terminal.wait_for_text("· memory_save create");
    terminal.wait_for_text("记下了。");
    terminal.type_line("忘掉房东");
    terminal.wait_for_text("  ✗ ");
    terminal.wait_for_text("没有找到。");
    terminal.wait_for_prompt();
    terminal.type_keys(CTRL_D);
    assert_eq!(terminal.wait_for_exit(), 0);
    assert!(home.recall("房东").contains(&"房东叫王先生".to_owned()));
}

#[test]
fn ctrl_c_interrupts_an_answer_keeps_what_came_and_again_ends_the_conversation() {
    let chats = MockChat::new()
        .then(ModelResponse::text("The first half and the second half.").held_after(5))
        .says("Where was I?")
        .then(ModelResponse::text("Once more, from the beginning.").held_after(3))
        .otherwise(|_| ModelResponse::text("- halves"));
    let (server, home) = chat_home(chats);
    let terminal = chat(&home);
    terminal.type_line("Tell me all");
    server.await_held();
    terminal.wait_for_text("The first half");
    terminal.type_keys(CTRL_C);
    terminal.wait_for_text("interrupted; the answer so far is stored");
    server.await_disconnect();
    terminal.type_line("go on");
    terminal.wait_for_text("Where was I?");
    assert_eq!(
        messages(&server, 1)[1]["content"],
        "The first half ",
        "the model knows how far it came"
    );
    terminal.type_line("again");
    server.await_held();
    terminal.wait_for_text("Once more");
    terminal.type_keys(CTRL_C);
    terminal.wait_for_prompt();
    terminal.type_keys(CTRL_C);
    terminal.wait_for_text("logged: 6 turns");
    assert_eq!(terminal.wait_for_exit(), 0);
    let turns = turns(&home);
    assert_eq!(turns[1], "The first half", "{turns:?}");
    assert_eq!(turns[5], "Once more", "{turns:?}");
    home.assert_healthy();
}

#[test]
fn lines_that_are_typed_while_an_answer_comes_are_not_lost() {
    let chats = MockChat::new()
        .then(ModelResponse::text("A slow answer.").held_after(2))
        .otherwise(|_| ModelResponse::text("ok"));
    let (server, home) = chat_home(chats);
    let terminal = chat(&home);
    terminal.type_line("first");
    server.await_held();
    terminal.type_keys("second\r第三行\r");
    server.release();
    server.await_requests(3);
    assert_eq!(last_question(&server, 1), "second");
    assert_eq!(last_question(&server, 2), "第三行");
    terminal.wait_for_prompt();
    terminal.type_keys(CTRL_D);
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn ctrl_c_at_the_prompt_asks_once_and_nothing_said_leaves_no_log() {
    let (_server, home) = chat_home(MockChat::new());
    let terminal = chat(&home);
    terminal.wait_for_prompt();
    terminal.type_keys("half a message");
    terminal.type_keys(CTRL_C);
    terminal.wait_for_text("Ctrl+C again ends the conversation");
    terminal.wait_for_prompt();
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(home.run(&["layer", "show", "daily"]).out.trim(), "");
}

#[test]
fn a_new_size_in_the_middle_of_an_answer_changes_nothing_of_what_is_said() {
    let text = "A rather long line that is wider than a narrow terminal, in English and 中文，直到最后一个字。";
    let chats = MockChat::new()
        .then(ModelResponse::text(text).held_after(8))
        .says("wide")
        .otherwise(|_| ModelResponse::text("- x"));
    let (server, home) = chat_home(chats);
    let terminal = chat(&home);
    terminal.type_line("Say something long");
    server.await_held();
    terminal.wait_for_text("A rather long line");
    terminal.resize(40, 30);
    server.release();
    terminal.wait_for_prompt();
    let question = "这是一行很长很长的中文，比终端的宽度还要长，所以必须换行显示，但是内容不能变。";
    terminal.type_keys(question);
    terminal.type_keys("\r");
    server.await_requests(2);
    terminal.wait_for_text("wide");
    assert_eq!(last_question(&server, 1), question);
    assert_eq!(turns(&home)[1], text);
    terminal.resize(40, 100);
    terminal.type_line("/quit");
    terminal.wait_for_text("logged: 4 turns");
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn chinese_is_typed_corrected_and_shown_in_its_width() {
    let chats = MockChat::new().says("好茶。").otherwise(|_| ModelResponse::text("- 茶"));
    let (server, home) = chat_home(chats);
    let env = [("LANG", "zh_CN.UTF-8")];
    let terminal = TestTerminal::start(&home, &["chat", "--session", "茶"], &env);
    terminal.wait_for_text("会话 茶 · 输入 /help 查看命令");
    terminal.wait_for_prompt();
    terminal.type_keys("我喜欢喝龙井酒");
    terminal.type_keys(BACKSPACE);
    terminal.type_keys("茶，你呢？");
    terminal.wait_for_text("› 我喜欢喝龙井茶，你呢？");
    terminal.type_keys("\r");
    terminal.wait_for_text("好茶。");
    assert_eq!(last_question(&server, 0), "我喜欢喝龙井茶，你呢？");
    terminal.type_line("/help");
    terminal.wait_for_text("清空本次对话，记忆保留");
    terminal.type_line("/bogus");
    terminal.wait_for_text("没有命令 /bogus");
    terminal.type_line("/quit");
    terminal.wait_for_text("正在总结对话");
    terminal.wait_for_text("已记入日志：2 条");
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn several_lines_make_one_message_and_earlier_ones_come_back_without_secrets() {
    let key = "sk-ant-api03-Zx81QpLmNv72RtYw33KdHs90BcJf64TgUeXa";
    let (server, home) = chat_home(MockChat::new().otherwise(|_| ModelResponse::text("ok")));
    let terminal = chat(&home);
    terminal.wait_for_prompt();
    terminal.type_keys("first line\\\rsecond line\r");
    terminal.wait_for_text("ok");
    assert_eq!(last_question(&server, 0), "first line\nsecond line");
    terminal.type_line(&format!("my key is {key}"));
    server.await_requests(2);
    terminal.type_line("/quit");
    assert_eq!(terminal.wait_for_exit(), 0);
    let history = fs::read_to_string(home.path().join("chat_history.jsonl")).unwrap();
    assert!(
        history.contains("first line\\nsecond line") && !history.contains("QpLmNv72"),
        "{history}"
    );
    let requests = server.requests().len();
    let terminal = chat(&home);
    terminal.wait_for_prompt();
    terminal.type_keys(&format!("{UP}{UP}{UP}"));
    terminal.wait_for_text("second line");
    terminal.type_keys("\r");
    server.await_requests(requests + 1);
    assert_eq!(last_question(&server, requests), "first line\nsecond line");
    terminal.wait_for_prompt();
    terminal.type_keys(CTRL_D);
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn the_commands_tell_what_is_remembered_recalled_and_spent() {
    let (server, home) = chat_home(MockChat::new().otherwise(|_| ModelResponse::text("Momo.")));
    home.remember("My cat is called Momo");
    let terminal = chat(&home);
    terminal.type_line("/why");
    terminal.wait_for_text("nothing was recalled for the last message");
    terminal.type_line("What is my cat called?");
    terminal.wait_for_text("1 memory · 20 tokens read");
    let asked = messages(&server, 0).last().unwrap()["content"].to_string();
    assert!(asked.contains("My cat is called Momo"), "{asked}");
    terminal.type_line("/why");
    terminal.wait_for_text("1 memory, 0 short-term items, ");
    terminal.wait_for_text("[user] My cat is called Momo");
    terminal.wait_for_text("by the words: cat");
    terminal.type_line("/memory cat");
    terminal.type_line("/cost");
    terminal.wait_for_text("1 answer: 20 tokens read (0 from the cache), 7 written");
    terminal.wait_for_text("in 2 messages again");
    terminal.type_line("/model scripted-other");
    terminal.wait_for_text("openai/scripted-other answers");
    terminal.type_line("/model scripted-chat");
    terminal.wait_for_text("openai/scripted-chat answers");
    terminal.type_line("/compact");
    terminal.wait_for_text("there is nothing to summarize yet");
    terminal.type_line("/clear");
    terminal.wait_for_text("the conversation is cleared; memory stays");
    terminal.type_line("//not a command");
    server.await_requests(2);
    terminal.wait_for_prompt();
    let sent = messages(&server, 1);
    assert_eq!(sent.len(), 1, "the conversation was cleared: {sent:?}");
    assert_eq!(sent[0]["content"], "/not a command");
    terminal.type_line("/help");
    terminal.wait_for_text("clear this conversation; memory stays");
    terminal.type_line("/quit");
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn ctrl_c_ends_a_conversation_of_lines_for_programs() {
    let (_server, home) = chat_home(MockChat::new().otherwise(|_| ModelResponse::text("ok")));
    let terminal = TestTerminal::start(&home, &["--json", "chat", "--session", "monday"], &[]);
    terminal.type_keys("the kitchen in Lisbon is ready\r");
    terminal.wait_for_text("\"text\":\"ok\"");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_exit(), 0);
    assert!(log(&home).contains("Session monday (2 turns)"), "{}", log(&home));
}

#[test]
fn a_provider_that_is_away_is_told_and_the_conversation_goes_on() {
    let (_server, home) = chat_home(
        MockChat::new().fails(401).says("Here again.").otherwise(|_| ModelResponse::text("- x")),
    );
    let terminal = chat(&home);
    terminal.type_line("hello");
    terminal.wait_for_text("error: ");
    terminal.wait_for_text("hint: ");
    terminal.type_line("hello?");
    terminal.wait_for_text("Here again.");
    terminal.type_line("/quit");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(turns(&home), ["hello", "hello?", "Here again."]);
}

#[test]
fn from_memory_alone_works_at_a_terminal() {
    let home = TestHome::new();
    let terminal = TestTerminal::start(&home, &["chat", "--offline", "--session", "cats"], &[]);
    terminal.wait_for_text("memory only, without a model · conversation cats");
    terminal.type_line("My cat is called Momo.");
    terminal.wait_for_text("Nothing is stored about that.");
    terminal.type_line("What is my cat called?");
    terminal.wait_for_text("│ My cat is called Momo.");
    terminal.type_line("/cost");
    terminal.wait_for_text("this conversation has no model");
    terminal.type_line("/quit");
    terminal.wait_for_text("logged: 2 turns");
    assert_eq!(terminal.wait_for_exit(), 0);
    let typed = || fs::read_to_string(home.path().join("chat_history.jsonl")).unwrap();
    assert!(typed().contains("My cat is called Momo."), "{}", typed());
    let listed = home.json(&["memory", "list", "--kind", "turn"]);
    let momo = |turn: &&serde_json::Value| turn["content"] == "My cat is called Momo.";
    let id = listed["memories"].as_array().unwrap().iter().find(momo).unwrap()["id"].clone();
    home.json(&["memory", "forget", "--yes", id.as_str().unwrap()]);
    assert!(!typed().contains("Momo") && typed().contains("/cost"), "{}", typed());
}

#[test]
fn without_a_model_onboarding_is_offered() {
    let home = TestHome::new();
    let terminal = TestTerminal::start(&home, &["chat"], &[]);
    terminal.wait_for_text("no model is set up");
    terminal.wait_for_text("set one up now with `everlore onboard`? [y/N]");
    terminal.type_keys("y\n");
    terminal.wait_for_question("auto [auto]:");
    terminal.type_keys(CTRL_C);
    terminal.wait_for_text("nothing was changed");
    assert_eq!(terminal.wait_for_exit(), 0);
}
