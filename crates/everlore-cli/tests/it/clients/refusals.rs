//! Refusals as clients of other systems report them to their users, over TLS.

use std::fs;

use everlore_mock_llm::{MockChat, MockServer};

use super::{clients, succeed};
use crate::serve::{
    TestServer,
    proxy::{KEY, home_with_provider},
    tls::{TLS_FILE_ARGS, TlsServer},
};

#[test]
fn every_client_raises_its_own_exception_with_our_sentence() {
    let Some(clients) = clients() else { return };
    // No refused request reaches it.
    let provider = MockServer::start(MockChat::new().with_key(KEY));
    let homes = ["openai", "anthropic"].map(|name| home_with_provider(name, &provider.url()));
    let args = ["--max-body", "2048", "--rate", "3"];
    let openai = TlsServer::start(&homes[0], &["localhost"], &args).server;
    for name in ["cert.pem", "key.pem"] {
        fs::copy(homes[0].sibling(name), homes[1].sibling(name)).unwrap();
    }
    let anthropic = TestServer::start(&homes[1], &[&TLS_FILE_ARGS, &args[..]].concat());
    let mut command = clients.python("refusals.py");
    command
        .env("URL", &openai.url)
        .env("KEY", &openai.token)
        .env("ANTHROPIC_URL", &anthropic.url)
        .env("ANTHROPIC_KEY", &anthropic.token)
        .env("SSL_CERT_FILE", homes[0].sibling("cert.pem"));
    let printed = succeed(command);
    assert_eq!(printed.lines().count(), 5, "{printed}");
    let requests = provider.requests();
    assert!(requests.iter().all(|request| request.path.contains("/models")), "{requests:?}");
}
