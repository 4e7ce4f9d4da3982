//! `everlore chat` at a real terminal: answers as they come, tools, Ctrl+C, a new size, Chinese, and the end (X3, F7).

use std::fs;

use everlore_scripted::{Chats, Said, Server};
use serde_json::json;

use crate::{
    chat::{log, messages, system, talking, turns},
    home::Home,
    terminal::{BACKSPACE, CTRL_C, CTRL_D, Terminal, UP},
};

fn chat(home: &Home) -> Terminal {
    Terminal::start(home, &["chat", "--session", "monday"], &[])
}

fn last_question(server: &Server, request: usize) -> String {
    let messages = messages(server, request);
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[test]
fn an_answer_is_seen_while_it_comes_rendered_and_the_end_is_summed_up() {
    let story = "Hello **Anna**, this is a long story about a kitchen in Lisbon.\n\n- The end.";
    let chats = Chats::new()
        .then(Said::text(story).held_after(10))
        .says("- Anna heard a story about a kitchen in Lisbon");
    let (server, home) = talking(chats);
    let terminal = chat(&home);
    terminal.sees("openai/scripted-chat · conversation monday");
    terminal.says("Tell me a story");
    server.await_held();
    terminal.sees("Hello Anna, this is");
    assert!(!terminal.screen().contains("The end."), "{}", terminal.screen());
    assert!(terminal.is_bold("Anna"));
    server.release();
    terminal.sees("• The end.");
    terminal.sees("0 memories · 20 tokens read, 0 cached, 7 written");
    terminal.says("/quit");
    terminal.sees("summing up the conversation");
    terminal.sees("logged: 2 turns in");
    assert_eq!(terminal.ends(), 0);
    assert!(log(&home).contains("- Anna heard a story about a kitchen"), "{}", log(&home));
    assert_eq!(turns(&home), ["Tell me a story", story]);
}

#[test]
fn tools_are_seen_and_their_failures_too() {
    let save =
        json!({ "action": "create", "type": "user", "name": "房东", "content": "房东叫王先生" });
    let chats = Chats::new()
        .calls("memory_save", save)
        .says("记下了。")
        .calls("memory_save", json!({ "action": "delete", "id": "0000" }))
        .says("没有找到。")
        .otherwise(|_| Said::text("- 房东"));
    let (_server, home) = talking(chats);
    let terminal = chat(&home);
    terminal.says("记住我的房东");
    terminal.sees("· memory_save create");
    terminal.sees("记下了。");
    terminal.says("忘掉房东");
    terminal.sees("  ✗ ");
    terminal.sees("没有找到。");
    terminal.prompts();
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), 0);
    assert!(home.recall("房东").contains(&"房东叫王先生".to_owned()));
}

#[test]
fn ctrl_c_interrupts_an_answer_keeps_what_came_and_again_ends_the_conversation() {
    let chats = Chats::new()
        .then(Said::text("The first half and the second half.").held_after(5))
        .says("Where was I?")
        .then(Said::text("Once more, from the beginning.").held_after(3))
        .otherwise(|_| Said::text("- halves"));
    let (server, home) = talking(chats);
    let terminal = chat(&home);
    terminal.says("Tell me all");
    server.await_held();
    terminal.sees("The first half");
    terminal.types(CTRL_C);
    terminal.sees("interrupted; what was said is stored");
    server.await_gone();
    terminal.says("go on");
    terminal.sees("Where was I?");
    assert_eq!(
        messages(&server, 1)[1]["content"],
        "The first half ",
        "the model knows how far it came"
    );
    terminal.says("again");
    server.await_held();
    terminal.sees("Once more");
    terminal.types(CTRL_C);
    terminal.prompts();
    terminal.types(CTRL_C);
    terminal.sees("logged: 6 turns");
    assert_eq!(terminal.ends(), 0);
    let turns = turns(&home);
    assert_eq!(turns[1], "The first half", "{turns:?}");
    assert_eq!(turns[5], "Once more", "{turns:?}");
    home.assert_well();
}

#[test]
fn lines_that_are_typed_while_an_answer_comes_are_not_lost() {
    let chats = Chats::new()
        .then(Said::text("A slow answer.").held_after(2))
        .otherwise(|_| Said::text("ok"));
    let (server, home) = talking(chats);
    let terminal = chat(&home);
    terminal.says("first");
    server.await_held();
    terminal.types("second\r第三行\r");
    server.release();
    server.await_requests(3);
    assert_eq!(last_question(&server, 1), "second");
    assert_eq!(last_question(&server, 2), "第三行");
    terminal.prompts();
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn ctrl_c_at_the_prompt_asks_once_and_nothing_said_leaves_no_log() {
    let (_server, home) = talking(Chats::new());
    let terminal = chat(&home);
    terminal.prompts();
    terminal.types("half a message");
    terminal.types(CTRL_C);
    terminal.sees("Ctrl+C again ends the conversation");
    terminal.prompts();
    terminal.types(CTRL_C);
    assert_eq!(terminal.ends(), 0);
    assert_eq!(home.run(&["layer", "show", "daily"]).out.trim(), "");
}

#[test]
fn a_new_size_in_the_middle_of_an_answer_changes_nothing_of_what_is_said() {
    let text = "A rather long line that is wider than a narrow terminal, in English and 中文，直到最后一个字。";
    let chats = Chats::new()
        .then(Said::text(text).held_after(8))
        .says("wide")
        .otherwise(|_| Said::text("- x"));
    let (server, home) = talking(chats);
    let terminal = chat(&home);
    terminal.says("Say something long");
    server.await_held();
    terminal.sees("A rather long line");
    terminal.resizes(40, 30);
    server.release();
    terminal.prompts();
    let question = "这是一行很长很长的中文，比终端的宽度还要长，所以必须换行显示，但是内容不能变。";
    terminal.types(question);
    terminal.types("\r");
    server.await_requests(2);
    terminal.sees("wide");
    assert_eq!(last_question(&server, 1), question);
    assert_eq!(turns(&home)[1], text);
    terminal.resizes(40, 100);
    terminal.says("/quit");
    terminal.sees("logged: 4 turns");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn chinese_is_typed_corrected_and_shown_in_its_width() {
    let chats = Chats::new().says("好茶。").otherwise(|_| Said::text("- 茶"));
    let (server, home) = talking(chats);
    let env = [("LANG", "zh_CN.UTF-8")];
    let terminal = Terminal::start(&home, &["chat", "--session", "茶"], &env);
    terminal.sees("会话 茶 · 输入 /help 查看命令");
    terminal.prompts();
    terminal.types("我喜欢喝龙井酒");
    terminal.types(BACKSPACE);
    terminal.types("茶，你呢？");
    terminal.sees("› 我喜欢喝龙井茶，你呢？");
    terminal.types("\r");
    terminal.sees("好茶。");
    assert_eq!(last_question(&server, 0), "我喜欢喝龙井茶，你呢？");
    terminal.says("/help");
    terminal.sees("清空本次对话，记忆保留");
    terminal.says("/bogus");
    terminal.sees("没有命令 /bogus");
    terminal.says("/quit");
    terminal.sees("正在总结对话");
    terminal.sees("已记入日志：2 条");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn several_lines_make_one_message_and_earlier_ones_come_back_without_secrets() {
    let key = "sk-ant-api03-Zx81QpLmNv72RtYw33KdHs90BcJf64TgUeXa";
    let (server, home) = talking(Chats::new().otherwise(|_| Said::text("ok")));
    let terminal = chat(&home);
    terminal.prompts();
    terminal.types("first line\\\rsecond line\r");
    terminal.sees("ok");
    assert_eq!(last_question(&server, 0), "first line\nsecond line");
    terminal.says(&format!("my key is {key}"));
    server.await_requests(2);
    terminal.says("/quit");
    assert_eq!(terminal.ends(), 0);
    let kept = fs::read_to_string(home.path().join("chat_history.jsonl")).unwrap();
    assert!(kept.contains("first line\\nsecond line") && !kept.contains("QpLmNv72"), "{kept}");
    let asked = server.requests().len();
    let terminal = chat(&home);
    terminal.prompts();
    terminal.types(&format!("{UP}{UP}{UP}"));
    terminal.sees("second line");
    terminal.types("\r");
    server.await_requests(asked + 1);
    assert_eq!(last_question(&server, asked), "first line\nsecond line");
    terminal.prompts();
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn the_commands_tell_what_is_remembered_recalled_and_spent() {
    let (server, home) = talking(Chats::new().otherwise(|_| Said::text("Momo.")));
    home.remember("My cat is called Momo");
    let terminal = chat(&home);
    terminal.says("/why");
    terminal.sees("nothing was recalled for the last message");
    terminal.says("What is my cat called?");
    terminal.sees("1 memory · 20 tokens read");
    assert!(system(&server, 0).contains("My cat is called Momo"), "{}", system(&server, 0));
    terminal.says("/why");
    terminal.sees("1 memory, 0 short-term items, ");
    terminal.sees("[user] My cat is called Momo");
    terminal.sees("by the words: cat");
    terminal.says("/memory cat");
    terminal.says("/cost");
    terminal.sees("1 answer: 20 tokens read (0 from the cache), 7 written");
    terminal.sees("in 2 messages again");
    terminal.says("/model scripted-other");
    terminal.sees("openai/scripted-other answers");
    terminal.says("/model scripted-chat");
    terminal.sees("openai/scripted-chat answers");
    terminal.says("/compact");
    terminal.sees("there is nothing to sum up yet");
    terminal.says("/clear");
    terminal.sees("the conversation is cleared; memory stays");
    terminal.says("//not a command");
    server.await_requests(2);
    terminal.prompts();
    let sent = messages(&server, 1);
    assert_eq!(sent.len(), 1, "the conversation was cleared: {sent:?}");
    assert_eq!(sent[0]["content"], "/not a command");
    terminal.says("/help");
    terminal.sees("forget this conversation; memory stays");
    terminal.says("/quit");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn ctrl_c_ends_a_conversation_of_lines_for_programs() {
    let (_server, home) = talking(Chats::new().otherwise(|_| Said::text("ok")));
    let terminal = Terminal::start(&home, &["--json", "chat", "--session", "monday"], &[]);
    terminal.types("hello\r");
    terminal.sees("\"text\":\"ok\"");
    terminal.types(CTRL_C);
    assert_eq!(terminal.ends(), 0);
    assert!(log(&home).contains("Session monday (2 turns)"), "{}", log(&home));
}

#[test]
fn a_provider_that_is_away_is_told_and_the_conversation_goes_on() {
    let (_server, home) =
        talking(Chats::new().fails(401).says("Here again.").otherwise(|_| Said::text("- x")));
    let terminal = chat(&home);
    terminal.says("hello");
    terminal.sees("error: ");
    terminal.sees("hint: ");
    terminal.says("hello?");
    terminal.sees("Here again.");
    terminal.says("/quit");
    assert_eq!(terminal.ends(), 0);
    assert_eq!(turns(&home), ["hello", "hello?", "Here again."]);
}

#[test]
fn from_memory_alone_works_at_a_terminal() {
    let home = Home::new();
    let terminal = Terminal::start(&home, &["chat", "--offline", "--session", "cats"], &[]);
    terminal.sees("answers from memory alone · conversation cats");
    terminal.says("My cat is called Momo.");
    terminal.sees("Nothing is stored about that.");
    terminal.says("What is my cat called?");
    terminal.sees("│ My cat is called Momo.");
    terminal.says("/cost");
    terminal.sees("no model takes part in this conversation");
    terminal.says("/quit");
    terminal.sees("logged: 2 turns");
    assert_eq!(terminal.ends(), 0);
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
    let home = Home::new();
    let terminal = Terminal::start(&home, &["chat"], &[]);
    terminal.sees("no model is set up");
    terminal.sees("set one up now with `everlore onboard`? [y/N]");
    terminal.types("y\n");
    terminal.asks("auto [auto]:");
    terminal.types(CTRL_C);
    terminal.sees("nothing was changed");
    assert_eq!(terminal.ends(), 0);
}
