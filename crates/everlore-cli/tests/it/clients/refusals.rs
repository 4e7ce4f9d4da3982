//! What the guards refuse, as the clients of other systems tell it to their users, over TLS (X5).

use super::{clients, succeed};
use crate::{home::Home, serve::tls::Secured};

#[test]
fn every_client_raises_its_own_exception_with_our_sentence() {
    let Some(clients) = clients() else { return };
    let home = Home::new();
    let args = ["--max-body", "2048", "--rate", "3"];
    let secured = Secured::on(&home, &["localhost"], &args);
    let mut command = clients.python("refusals.py");
    command
        .env("URL", &secured.serving.url)
        .env("KEY", &secured.serving.token)
        .env("SSL_CERT_FILE", home.beside("cert.pem"));
    let printed = succeed(command);
    assert_eq!(printed.lines().count(), 5, "{printed}");
}
