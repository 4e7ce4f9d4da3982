//! TLS: certificates, plain HTTP on the TLS port, handshakes that never end, and reloads.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};

use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use serde_json::Value;

use super::{DEADLINE, TestServer};
use crate::home::TestHome;

/// Server with a certificate for these names.
pub(crate) struct TlsServer {
    pub(crate) cert: String,
    pub(crate) server: TestServer,
}

/// Writes a certificate and its key beside a home.
fn write_certificate(home: &TestHome, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    replace_certificate(home, &cert.pem(), &signing_key.serialize_pem());
    cert.pem()
}

/// Replaces each file in one step, as programs that renew certificates do.
fn replace_certificate(home: &TestHome, cert: &str, key: &str) {
    for (name, text) in [("cert.pem", cert), ("key.pem", key)] {
        let beside = home.sibling("new.pem");
        fs::write(&beside, text).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&beside, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        fs::rename(&beside, home.sibling(name)).unwrap();
    }
}

/// Options that name both files, relative to the folder where the server is started.
pub(crate) const TLS_FILE_ARGS: [&str; 4] = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];

impl TlsServer {
    pub(crate) fn start(home: &TestHome, names: &[&str], args: &[&str]) -> Self {
        let cert = write_certificate(home, names);
        Self { cert, server: TestServer::start(home, &[&TLS_FILE_ARGS, args].concat()) }
    }

    /// Starts a server for `localhost` with shorter time limits, as [`TestServer::start_with_timeouts`] takes them.
    fn start_with_timeouts(home: &TestHome, timeouts: &str) -> Self {
        let cert = write_certificate(home, &["localhost"]);
        Self { cert, server: TestServer::start_with_timeouts(home, &TLS_FILE_ARGS, timeouts) }
    }

    /// Returns the advertised port.
    fn port(&self) -> u16 {
        self.server.address.rsplit_once(':').unwrap().1.parse().unwrap()
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// Sends a request by a host name, trusting this certificate only.
    pub(crate) fn request(&self, trusted: &str, name: &str, path: &str) -> std::io::Result<String> {
        let mut stream = StreamOwned::new(client(trusted, name, &[b"http/1.1"]), self.connect());
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {name}:{}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            self.port(),
            self.server.token
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

fn client(trusted: &str, name: &str, protocols: &[&[u8]]) -> ClientConnection {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|one| one.to_vec()).collect();
    ClientConnection::new(Arc::new(config), ServerName::try_from(name.to_owned()).unwrap()).unwrap()
}

#[track_caller]
fn refused(home: &TestHome, args: &[&str], messages: &[&str]) {
    let ran = home.run(&[&["serve", "--port", "0"], args].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    for message in messages {
        assert!(ran.err.contains(message), "{message}: {}", ran.err);
    }
}

#[test]
fn a_client_that_checks_certificates_is_answered() {
    let home = TestHome::new();
    home.remember("我的猫叫小白。");
    let secured = TlsServer::start(&home, &["localhost", "memory.example"], &[]);
    assert!(secured.server.url.starts_with("https://localhost:"), "{}", secured.server.url);
    let answer = secured.request(&secured.cert, "localhost", "/v1/memories").unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("我的猫叫小白。"), "{answer}");
    let other = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap().cert.pem();
    let error = secured.request(&other, "localhost", "/health").unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[test]
fn a_public_address_needs_a_certificate_and_its_names_are_the_servers() {
    let home = TestHome::new();
    let names = ["localhost", "memory.example", "*.home.lan", "127.0.0.1"];
    let secured = TlsServer::start(&home, &names, &["--host", "0.0.0.0"]);
    for name in ["memory.example", "nas.home.lan", "127.0.0.1"] {
        let answer = secured.request(&secured.cert, name, "/v1/stats").unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{name}: {answer}");
    }
    let mut stream = StreamOwned::new(client(&secured.cert, "localhost", &[]), secured.connect());
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("403") && answer.contains("foreign_host"), "{answer}");
    drop(secured);
    refused(&home, &["--host", "0.0.0.0"], &["there is no TLS", "--tls-cert", "--allow-remote"]);
}

#[test]
fn plain_http_on_the_tls_port_gets_a_hint_at_once() {
    let secured = TlsServer::start(&TestHome::new(), &["localhost"], &[]);
    let began = Instant::now();
    let mut stream = secured.connect();
    stream.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("https://"), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn another_protocol_is_refused_in_the_handshake() {
    let secured = TlsServer::start(&TestHome::new(), &["localhost"], &[]);
    let mut stream =
        StreamOwned::new(client(&secured.cert, "localhost", &[b"h2"]), secured.connect());
    let error = stream.write_all(b"PRI * HTTP/2.0\r\n\r\n").and_then(|()| stream.read(&mut [0; 9]));
    assert!(error.unwrap_err().to_string().contains("NoApplicationProtocol"));
}

#[test]
fn unfinished_handshakes_delay_neither_other_clients_nor_the_end() {
    let home = TestHome::new();
    let mut secured = TlsServer::start(&home, &["localhost"], &[]);
    let mut hanging: Vec<TcpStream> = (0..50).map(|_| secured.connect()).collect();
    for (number, stream) in hanging.iter_mut().enumerate() {
        // Some send nothing at all, some the beginning of a handshake.
        if number % 2 == 0 {
            stream.write_all(&[0x16, 3, 1, 2, 0, 1]).unwrap();
        }
    }
    let began = Instant::now();
    for _ in 0..5 {
        let answer = secured.request(&secured.cert, "localhost", "/health").unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    #[cfg(unix)]
    {
        secured.server.terminate();
        assert!(secured.server.child.wait().unwrap().success());
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    }
}

#[test]
fn a_handshake_that_never_ends_is_cut_off_in_time() {
    let secured = TlsServer::start_with_timeouts(&TestHome::new(), "tls_handshake=500");
    let began = Instant::now();
    let mut stream = secured.connect();
    stream.write_all(&[0x16, 3, 1, 2, 0, 1]).unwrap();
    let _ = stream.read_to_end(&mut Vec::new());
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(500) && took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn a_renewed_certificate_is_used_and_a_broken_one_is_not() {
    let home = TestHome::new();
    let mut secured = TlsServer::start_with_timeouts(&home, "certificate_poll=100");
    let first = secured.cert.clone();
    let until = |trusted: &str, secured: &TlsServer| {
        let began = Instant::now();
        while secured.request(trusted, "localhost", "/health").is_err() {
            assert!(began.elapsed() < DEADLINE, "the new certificate was never used");
            std::thread::yield_now();
        }
    };
    fs::write(home.sibling("key.pem"), "not a key").unwrap();
    let log = || fs::read_to_string(home.sibling("log")).unwrap();
    let began = Instant::now();
    while !log().contains("the old one stays") {
        assert!(began.elapsed() < DEADLINE, "{}", log());
        secured.request(&first, "localhost", "/health").unwrap();
    }
    assert!(log().contains("holds no private key"), "{}", log());
    secured.request(&first, "localhost", "/health").unwrap();
    secured.cert = write_certificate(&home, &["localhost", "renewed.example"]);
    until(&secured.cert, &secured);
    assert!(secured.request(&first, "localhost", "/health").is_err());
    let answer = secured.request(&secured.cert, "renewed.example", "/health").unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "its names are the server's now: {answer}");
}

#[test]
fn unusable_files_are_refused_at_the_start() {
    let home = TestHome::new();
    let cert = write_certificate(&home, &["localhost"]);
    let key = fs::read_to_string(home.sibling("key.pem")).unwrap();
    refused(&home, &TLS_FILE_ARGS[..2], &["a certificate needs its key", "--tls-key"]);
    refused(
        &home,
        &["--tls-cert", "none.pem", "--tls-key", "key.pem"],
        &["none.pem cannot be read"],
    );
    refused(
        &home,
        &["--tls-cert", "key.pem", "--tls-key", "key.pem"],
        &["key.pem holds no certificate"],
    );
    refused(
        &home,
        &["--tls-cert", "cert.pem", "--tls-key", "cert.pem"],
        &["cert.pem holds no private key"],
    );
    replace_certificate(&home, &cert, &KeyPair::generate().unwrap().serialize_pem());
    refused(&home, &TLS_FILE_ARGS, &["does not belong to the certificate"]);
    replace_certificate(&home, &cert, &key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"));
    refused(&home, &TLS_FILE_ARGS, &["is encrypted", "openssl pkey"]);
    let older = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
    replace_certificate(&home, &cert, older);
    refused(&home, &TLS_FILE_ARGS, &["is encrypted", "openssl pkey"]);
    replace_certificate(&home, &cert[..cert.len() / 2], &key);
    refused(&home, &TLS_FILE_ARGS, &["cert.pem"]);
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), "[server]\ntls_cert = \"cert.pem\"\n").unwrap();
    refused(&home, &[], &["server.tls_cert", "give both or neither"]);
}

#[cfg(unix)]
#[test]
fn a_world_readable_key_is_reported() {
    let home = TestHome::new();
    write_certificate(&home, &["localhost"]);
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    fs::set_permissions(home.sibling("key.pem"), open).unwrap();
    let _serving = TestServer::start(&home, &TLS_FILE_ARGS);
    let log = fs::read_to_string(home.sibling("log")).unwrap();
    assert!(log.contains("other users of this machine can read the key"), "{log}");
}

#[test]
fn keys_in_sec1_format_are_read_too() {
    let home = TestHome::new();
    write_certificate(&home, &["localhost"]);
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let whole = signing_key.serialize_der();
    // PKCS#8 holds SEC1 as its last field: a sequence that begins with the version 1 and a key of 32 bytes.
    let at = whole.windows(5).position(|bytes| bytes == [2, 1, 1, 4, 32]).unwrap() - 2;
    let pem = pem_of("EC PRIVATE KEY", &whole[at..]);
    replace_certificate(&home, &cert.pem(), &pem);
    let secured = TlsServer { cert: cert.pem(), server: TestServer::start(&home, &TLS_FILE_ARGS) };
    assert!(secured.request(&secured.cert, "localhost", "/health").unwrap().contains("200 OK"));
}

fn pem_of(label: &str, der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut body = String::new();
    for three in der.chunks(3) {
        let at = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for position in 0..4 {
            let digit = char::from(DIGITS[(bits >> (18 - 6 * position)) as usize & 63]);
            body.push(if position <= three.len() { digit } else { '=' });
        }
    }
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

#[test]
fn the_settings_name_the_files_and_agents_get_the_https_address() {
    let home = TestHome::new();
    write_certificate(&home, &["memory.example"]);
    fs::create_dir_all(home.path()).unwrap();
    for name in ["cert.pem", "key.pem"] {
        fs::copy(home.sibling(name), home.path().join(name)).unwrap();
    }
    let settings = "[server]\nport = 7443\ntls_cert = \"cert.pem\"\ntls_key = \"key.pem\"\nnames = [\"memory.example\"]\n";
    fs::write(home.path().join("config.toml"), settings).unwrap();
    let url = |home: &TestHome| home.run(&["connect", "claude-code", "--http", "--print"]).out;
    assert!(url(&home).contains("https://memory.example:7443/mcp"), "{}", url(&home));
    let serving = TestServer::start(&home, &[]);
    let running = format!("{}/mcp", serving.url);
    assert!(running.starts_with("https://memory.example:") && url(&home).contains(&running));
    let status: Value =
        serde_json::from_str(&home.run(&["--json", "serve", "status"]).out).unwrap();
    assert_eq!(status["url"], serving.url);
}
