//! Language models of the settings: the sources of their keys, and the doctor's check.

use std::fs;

use everlore_mock_llm::{MockChat, MockServer, ModelResponse};

use crate::home::{CommandOutput, TestHome};

const KEY: &str = "sk-very-secret";

/// Returns a home whose settings name a language model of a server.
fn home(server: &MockServer, more: &str) -> TestHome {
    let home = TestHome::new();
    let settings = format!(
        "[chat]\nprovider = \"openai\"\nmodel = \"scripted-chat\"\nbase_url = \"{}/v1\"\n{more}",
        server.url()
    );
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), settings).unwrap();
    home.run(&["doctor", "--repair"]);
    home
}

fn doctor(home: &TestHome, variables: &[(&str, &str)]) -> CommandOutput {
    home.command(&["doctor"]).envs(variables.iter().copied()).output().unwrap().into()
}

fn server() -> MockServer {
    MockServer::start(MockChat::new().with_key(KEY))
}

#[test]
fn a_key_is_found_in_each_of_its_places_and_never_shown() {
    let server = server();
    let set = format!("api_key = \"{KEY}\"\n");
    let printed = format!("key_command = \"printf '%s\\\\nmore' {KEY}\"\n");
    for (more, variables) in [
        (set.as_str(), &[][..]),
        (&printed, &[]),
        ("", &[("OPENAI_API_KEY", KEY)][..]),
        ("", &[("EVERLORE_CHAT__API_KEY", KEY)]),
        (&set, &[("OPENAI_API_KEY", "sk-another")]),
    ] {
        let ran = doctor(&home(&server, more), variables);
        assert_eq!(ran.code, 0, "{more} {variables:?} {ran:?}");
        let expected = "language model: openai/scripted-chat of [chat] is available";
        assert!(ran.out.contains(expected) && !ran.out.contains(KEY), "{ran:?}");
    }
}

#[test]
fn a_key_can_be_kept_in_the_home_apart_from_the_settings() {
    let server = server();
    let home = home(&server, "");
    let refused = doctor(&home, &[]);
    assert_eq!(refused.code, 2);
    assert!(refused.out.contains("asks for a key, and there is none"), "{refused:?}");
    assert!(refused.out.contains("put the key into the variable OPENAI_API_KEY"), "{refused:?}");

    let saved = home.run_with_input(&["config", "key", "openai"], format!("{KEY}\n").as_bytes());
    assert_eq!(saved.code, 0, "{saved:?}");
    assert!(saved.out.contains("keys.toml") && !saved.out.contains(KEY), "{saved:?}");
    assert_eq!(doctor(&home, &[]).code, 0);
    assert!(!home.run(&["config", "show"]).out.contains(KEY));
    let wrong = doctor(&home, &[("OPENAI_API_KEY", "sk-wrong")]);
    assert!(wrong.out.contains("the key in the variable OPENAI_API_KEY was refused"), "{wrong:?}");
    assert!(!wrong.out.contains("sk-wrong"), "{wrong:?}");

    home.run(&["config", "key", "openai", "--remove"]);
    assert_eq!(doctor(&home, &[]).code, 2);
    let unknown = home.run_with_input(&["config", "key", "opnai"], KEY.as_bytes());
    assert!(unknown.code == 2 && unknown.err.contains("name one of openai"), "{unknown:?}");
    let empty = home.run_with_input(&["config", "key", "openai"], b"two words");
    assert!(empty.code == 2 && empty.err.contains("the input is not a key"), "{empty:?}");
}

#[test]
fn a_command_for_the_key_that_fails_is_reported() {
    let server = server();
    let failed = doctor(&home(&server, "key_command = \"exit 3\"\n"), &[]);
    assert!(failed.out.contains("key_command of [chat] failed"), "{failed:?}");
    let nothing = doctor(&home(&server, "key_command = \"true\"\n"), &[]);
    assert!(nothing.out.contains("printed nothing"), "{nothing:?}");
    assert_eq!(server.requests().len(), 0, "without a key no request is sent");
}

#[test]
fn the_doctor_tells_of_a_model_that_is_not_there() {
    let server = MockServer::start(
        MockChat::new().with_model("another").otherwise(|_| ModelResponse::text("好")),
    );
    let unlisted = doctor(&home(&server, ""), &[]);
    assert_eq!(unlisted.code, 0);
    assert!(unlisted.out.contains("does not list this model"), "{unlisted:?}");
    let home = home(&server, "");
    drop(server);
    let away = doctor(&home, &[]);
    assert_eq!(away.code, 2);
    assert!(away.out.contains("no server listens there"), "{away:?}");
    let none = TestHome::new();
    none.run(&["remember", "tea"]);
    assert!(!none.run(&["doctor"]).out.contains("language model"), "none is set");
}

#[test]
fn nothing_that_is_logged_holds_the_key() {
    let server = server();
    let home = home(&server, &format!("api_key = \"{KEY}\"\n"));
    let ran: CommandOutput = home.command(&["-vvv", "doctor"]).output().unwrap().into();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!format!("{ran:?}").contains(KEY));
}
