//! Official client of OpenViking: lists, reads, finds, adds and chats.

use super::{clients, succeed};
use crate::{home::TestHome, serve::TestServer};

#[test]
fn the_openviking_client_works_with_nothing_but_the_address_and_a_key() {
    let Some(clients) = clients() else { return };
    let home = TestHome::new();
    let key = |name: &str, role: &str, user: &str| {
        let key = home.json(&[
            "serve", "key", "add", name, "--role", role, "--agent", "viking", "--user", user,
        ]);
        key["key"].as_str().unwrap().to_owned()
    };
    let (own, other) = (key("own", "write", "王"), key("other", "read", "li"));
    let server = TestServer::start(&home, &[]);
    let mut command = clients.python("openviking.py");
    command.args([&format!("http://{}", server.address), &own, &other]);
    command.env("HOME", home.path()).env_remove("OPENVIKING_URL");
    let output = succeed(command);
    assert!(output.contains("in English and Chinese"), "{output}");
    home.assert_healthy();
}
