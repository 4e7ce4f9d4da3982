//! `everlore onboard`: at a real terminal from start to end, with steps skipped, twice; and by options alone.

use std::fs;

use everlore::internal::files::atomic_file::create_private_folder;
use everlore_mock_llm::{MockChat, MockServer, ModelResponse};
use serde_json::json;

use crate::{
    home::TestHome,
    terminal::{CTRL_C, ENTER, TestTerminal},
};

fn provider() -> MockServer {
    MockServer::start(MockChat::new().otherwise(|_| ModelResponse::text("ready")))
}

fn settings(home: &TestHome) -> String {
    fs::read_to_string(home.path().join("config.toml")).unwrap_or_default()
}

fn soul(home: &TestHome) -> String {
    fs::read_to_string(home.path().join("SOUL.md")).unwrap_or_default()
}

/// Waits for a question and answers it.
fn answer_question(terminal: &TestTerminal, question: &str, answer: &str) {
    terminal.wait_for_question(question);
    terminal.type_keys(answer);
    terminal.type_keys(ENTER);
}

#[test]
fn the_wizard_leads_from_nothing_to_a_conversation_and_runs_again_without_harm() {
    let (server, home) = (provider(), TestHome::new());
    let terminal = TestTerminal::start(&home, &["onboard"], &[("OPENAI_API_KEY", "sk-1")]);
    answer_question(&terminal, "auto [auto]:", "");
    answer_question(&terminal, "Provider [openai]:", "");
    answer_question(
        &terminal,
        "Address [https://api.openai.com/v1]:",
        &format!("{}/v1", server.url()),
    );
    terminal.wait_for_text("2) scripted-other");
    answer_question(&terminal, "Model [scripted-chat]:", "");
    terminal.wait_for_text("✓ openai/scripted-chat answered in");
    answer_question(&terminal, "The agent's name [Ever]:", "Aria");
    answer_question(&terminal, "Its personality [friendly, curious and honest]:", "");
    answer_question(&terminal, "Its way of speaking [short and plain]:", "as a poet");
    answer_question(&terminal, "use this memory? [y/N]:", "y");
    terminal.wait_for_text("everlore context \"MESSAGE\"");
    terminal.wait_for_text("memory_agent.model = \"scripted-chat\"");
    terminal.wait_for_text("SOUL.md: Way of speaking");
    answer_question(&terminal, "Write this? [Y/n]:", "");
    terminal.wait_for_text("next: everlore chat");
    assert_eq!(terminal.wait_for_exit(), 0);
    let (written, persona) = (settings(&home), soul(&home));
    assert!(
        written.starts_with("[memory_agent]\nenabled = true\nprovider = \"openai\"\n"),
        "{written}"
    );
    assert!(!written.contains("sk-1"), "{written}");
    assert!(persona.contains("## Name\n\nMy name is Aria."), "{persona}");
    assert!(persona.contains("## Way of speaking\n\nas a poet"), "{persona}");
    assert!(persona.contains("## Personality\n\nfriendly, curious"), "{persona}");
    assert!(persona.contains("## Principles"), "{persona}");

    let terminal = TestTerminal::start(&home, &["onboard"], &[("OPENAI_API_KEY", "sk-1")]);
    answer_question(&terminal, "auto [auto]:", "");
    answer_question(&terminal, "Provider [openai]:", "");
    answer_question(&terminal, "Model [scripted-chat]:", "");
    terminal.wait_for_text("✓ openai/scripted-chat answered in");
    answer_question(&terminal, "The agent's name [My name is Aria.]:", "Bo");
    answer_question(&terminal, "Its personality [friendly, curious and honest]:", "");
    answer_question(&terminal, "Its way of speaking [as a poet]:", "");
    answer_question(&terminal, "use this memory? [y/N]:", "");
    answer_question(&terminal, "Replace it? [y/N]:", "n");
    terminal.wait_for_text("nothing to change");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!((settings(&home), soul(&home)), (written, persona));

    let terminal = TestTerminal::start(&home, &["chat"], &[("OPENAI_API_KEY", "sk-1")]);
    terminal.type_line("hello");
    terminal.wait_for_text("ready");
    terminal.type_line("/quit");
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn every_step_can_be_left_out_and_leaving_changes_nothing() {
    let home = TestHome::new();
    let terminal = TestTerminal::start(&home, &["onboard"], &[]);
    answer_question(&terminal, "auto [auto]:", "fr");
    answer_question(&terminal, "auto [auto]:", "zh");
    answer_question(&terminal, "服务商 []:", "nobody");
    terminal.wait_for_text("请输入列表中的编号或名称");
    answer_question(&terminal, "服务商 []:", "");
    answer_question(&terminal, "智能体的名字 [小忆]:", "小爱");
    terminal.wait_for_question("个性 [友善、好奇、诚实]:");
    terminal.type_keys(CTRL_C);
    terminal.wait_for_text("什么都没有改");
    terminal.wait_for_text("everlore onboard --language zh --name 小爱");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(settings(&home), "");
    assert!(!soul(&home).contains("小爱"), "{}", soul(&home));
}

#[test]
fn options_alone_do_the_same_and_keep_comments() {
    let (server, home) = (provider(), TestHome::new());
    create_private_folder(&home.path()).unwrap();
    let before = "# my settings\n[recall]\nlimit = 7 # enough\n";
    fs::write(home.path().join("config.toml"), before).unwrap();
    let url = format!("{}/v1", server.url());
    let args = [
        "--json",
        "onboard",
        "--yes",
        "--language",
        "zh",
        "--provider",
        "openai",
        "--model",
        "scripted-chat",
        "--base-url",
        &url,
        "--name",
        "小爱",
        "--personality",
        "耐心、细致",
    ];
    let ran = home.run(&args);
    let output = ran.json();
    assert_eq!((ran.code, &output["check"]["ok"]), (0, &json!(true)), "{ran:?}");
    assert!(settings(&home).starts_with(before), "{}", settings(&home));
    assert!(soul(&home).contains("## 名字\n\n我叫小爱。"), "{}", soul(&home));
    let again = home.run(&args).json();
    assert_eq!((&again["settings"], &again["soul"]), (&json!([]), &json!([])), "{again}");
    let other = home.run(&["--json", "onboard", "--yes", "--language", "zh", "--name", "小明"]);
    assert_eq!(other.code, 2);
    assert!(other.out.contains("--replace") && soul(&home).contains("小爱"), "{other:?}");
    home.run(&["onboard", "--yes", "--language", "zh", "--name", "小明", "--replace"]);
    assert!(soul(&home).contains("我叫小明。") && !soul(&home).contains("小爱"), "{}", soul(&home));
    home.assert_healthy();
}

#[test]
fn what_cannot_work_is_told_and_changes_nothing() {
    let home = TestHome::new();
    let ran = home.run(&["onboard"]);
    assert!(ran.code == 2 && ran.err.contains("--yes"), "{ran:?}");
    let ran = home.run(&["--json", "onboard", "--yes", "--provider", "nobody", "--model", "x"]);
    assert!(ran.code == 2 && ran.out.contains("name one of openai"), "{ran:?}");
    assert_eq!(settings(&home), "");
    let server = MockServer::start(MockChat::new().with_key("sk-right"));
    let url = format!("{}/v1", server.url());
    let args = [
        "onboard",
        "--yes",
        "--provider",
        "openai",
        "--model",
        "scripted-chat",
        "--base-url",
        &url,
    ];
    let ran = home.run(&args);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.contains("✗ openai/scripted-chat"), "{ran:?}");
    assert!(ran.out.contains("nothing was written") && ran.out.contains("--no-check"), "{ran:?}");
    let chinese = home.run(&[&args[..], &["--language", "zh", "--name", "小爱"]].concat());
    assert!(chinese.code == 2 && chinese.out.contains("什么都没有写入"), "{chinese:?}");
    let output = home.run(&[&["--json"], &args[..]].concat());
    assert_eq!((output.code, &output.json()["settings"]), (2, &json!([])), "{output:?}");
    assert_eq!(output.json()["check"]["ok"], false, "{output:?}");
    assert_eq!((settings(&home), soul(&home)), (String::new(), String::new()));
    let ran = home.run(&[&args[..], &["--no-check"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(settings(&home).contains("model = \"scripted-chat\""), "{}", settings(&home));
    fs::write(home.path().join("config.toml"), "[chat\n").unwrap();
    let ran = home.run(&["onboard", "--yes", "--name", "Aria"]);
    assert!(ran.code == 2 && ran.err.contains("cannot be read"), "{ran:?}");
    assert_eq!(settings(&home), "[chat\n");
}

#[test]
fn the_wizard_connects_agents_that_it_finds() {
    let home = TestHome::new();
    let codex = home.sibling("user").join(".codex");
    fs::create_dir_all(&codex).unwrap();
    let terminal = TestTerminal::start(&home, &["onboard", "--language", "zh", "--no-check"], &[]);
    for question in ["服务商 []:", "名字 [小忆]:", "诚实]:", "直白]:"] {
        answer_question(&terminal, question, "");
    }
    answer_question(&terminal, "名称或 all []:", "emacs");
    answer_question(&terminal, "名称或 all []:", "codex");
    answer_question(&terminal, "写入这些内容吗？[Y/n]:", "");
    terminal.wait_for_text("connected: codex");
    assert_eq!(terminal.wait_for_exit(), 0);
    let config = fs::read_to_string(codex.join("config.toml")).unwrap();
    assert!(config.contains("[mcp_servers.everlore]"), "{config}");
    assert!(codex.join("hooks.json").exists());
}

#[test]
fn enter_all_the_way_leaves_a_working_agent_with_a_name() {
    for (language, name, next) in [
        ("en", "My name is Ever.", "next: everlore chat --offline"),
        ("zh", "我叫小忆。", "下一步：everlore chat --offline"),
    ] {
        let home = TestHome::new();
        let terminal = TestTerminal::start(&home, &["onboard", "--language", language], &[]);
        for _ in 0..6 {
            terminal.wait_for_question(":");
            terminal.type_keys(ENTER);
        }
        terminal.wait_for_text(next);
        assert_eq!(terminal.wait_for_exit(), 0);
        assert!(soul(&home).contains(name), "{}", soul(&home));
        // Nothing is stored yet, which is 1.
        let ran = home.run(&["chat", "--offline", "hello"]);
        assert!(ran.code == 1 && ran.err.is_empty(), "{ran:?}");
    }
}

#[test]
fn a_key_is_asked_for_kept_for_the_user_alone_and_never_shown() {
    let server = MockServer::start(
        MockChat::new().with_key("sk-right").otherwise(|_| ModelResponse::text("ready")),
    );
    let home = TestHome::new();
    let terminal =
        TestTerminal::start(&home, &["onboard", "--language", "en"], &[("NO_COLOR", "1")]);
    terminal.wait_for_text("13) other (any server with OpenAI's protocol)");
    answer_question(&terminal, "Provider []:", "other");
    answer_question(
        &terminal,
        "Address [http://127.0.0.1:8080/v1]:",
        &format!("{}/v1", server.url()),
    );
    answer_question(&terminal, "Enter if there is none):", "sk-right");
    terminal.wait_for_text("********");
    answer_question(&terminal, "Model [scripted-chat]:", "");
    terminal.wait_for_text("✓ other/scripted-chat answered in");
    for _ in 0..4 {
        terminal.wait_for_question(":");
        terminal.type_keys(ENTER);
    }
    answer_question(&terminal, "Write this? [Y/n]:", "");
    terminal.wait_for_text("next: everlore chat");
    assert!(!terminal.screen().contains("sk-right"), "{}", terminal.screen());
    assert_eq!(terminal.wait_for_exit(), 0);
    let keys = home.path().join("keys.toml");
    assert!(fs::read_to_string(&keys).unwrap().contains("other = \"sk-right\""));
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(&keys).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!settings(&home).contains("sk-right"), "{}", settings(&home));
    assert_eq!(home.run(&["chat", "hello"]).out, "ready\n");
}

#[test]
fn what_was_typed_outlives_a_failure_at_the_end() {
    let home = TestHome::new();
    create_private_folder(&home.path()).unwrap();
    let terminal = TestTerminal::start(&home, &["onboard", "--language", "en"], &[]);
    answer_question(&terminal, "Provider []:", "");
    answer_question(&terminal, "The agent's name [Ever]:", "Aria the Second");
    terminal.wait_for_question(":");
    fs::write(home.path().join("config.toml"), "[chat\n").unwrap();
    for _ in 0..3 {
        terminal.wait_for_question(":");
        terminal.type_keys(ENTER);
    }
    terminal.wait_for_text("your answers are kept in: everlore onboard --language en");
    terminal.wait_for_text("--name 'Aria the Second'");
    assert_eq!(terminal.wait_for_exit(), 2);
}

#[test]
fn a_provider_without_a_model_is_kept_and_its_key_is_listed() {
    let home = TestHome::new();
    let terminal = TestTerminal::start(&home, &["onboard"], &[]);
    answer_question(&terminal, "auto [auto]:", "en");
    answer_question(&terminal, "Provider []:", "other");
    answer_question(&terminal, "Address [http://127.0.0.1:8080/v1]:", "http://127.0.0.1:9/v1");
    answer_question(&terminal, "Enter if there is none):", "sk-typed");
    answer_question(&terminal, "Model []:", "");
    terminal.wait_for_text("Enter again goes on without one");
    answer_question(&terminal, "Model []:", "");
    answer_question(&terminal, "The agent's name [Ever]:", "");
    answer_question(&terminal, "Its personality [friendly, curious and honest]:", "");
    answer_question(&terminal, "Its way of speaking [short and plain]:", "");
    answer_question(&terminal, "use this memory? [y/N]:", "");
    terminal.wait_for_text("keys.toml: the key of other");
    answer_question(&terminal, "Write this? [Y/n]:", "");
    terminal.wait_for_text("next: everlore chat --offline");
    assert_eq!(terminal.wait_for_exit(), 0);
    let written = settings(&home);
    assert!(written.contains("base_url = \"http://127.0.0.1:9/v1\""), "{written}");
    assert!(written.contains("provider = \"other\"") && !written.contains("enabled"), "{written}");
    let keys = fs::read_to_string(home.path().join("keys.toml")).unwrap();
    assert!(keys.contains("sk-typed"), "{keys}");
}

#[test]
fn a_key_is_typed_unseen_and_ends_with_enter() {
    let home = TestHome::new();
    let terminal = TestTerminal::start(&home, &["config", "key", "openai"], &[]);
    answer_question(&terminal, "ends with Enter):", "sk-typed-1");
    terminal.wait_for_text("was saved in");
    assert!(!terminal.screen().contains("sk-typed"), "{}", terminal.screen());
    assert_eq!(terminal.wait_for_exit(), 0);
    let keys = fs::read_to_string(home.path().join("keys.toml")).unwrap();
    assert!(keys.contains("sk-typed-1"), "{keys}");
}
