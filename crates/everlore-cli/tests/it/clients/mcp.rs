//! MCP with its official clients: the Python client, the inspector, and the conformance suite of both eras.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    thread,
};

use serde_json::Value;

use super::{OfficialClients, clients, succeed};
use crate::{home::TestHome, serve::TestServer};

/// Creates a key for a user.
fn key(home: &TestHome, user: &str, role: &str) -> String {
    let args = ["--agent", "python", "--user", user, "serve", "key", "add", user, "--role", role];
    home.json(&args)["key"].as_str().unwrap().to_owned()
}

#[test]
fn the_python_client_calls_everything_over_both_transports_in_both_eras() {
    let Some(clients) = clients() else { return };
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let mut script = clients.python("mcp_client.py");
    script.arg(env!("CARGO_BIN_EXE_everlore")).arg(home.path());
    script.arg(format!("http://{}/mcp", server.address)).arg(&server.token);
    script.args([key(&home, "wang", "write"), key(&home, "li", "read")]);
    let output = succeed(script);
    assert_eq!(output.lines().count(), 5, "{output}");
    home.assert_healthy();
}

/// MCP inspector for a process or a server.
struct McpInspector<'a> {
    clients: &'a OfficialClients,
    target: Vec<String>,
}

impl McpInspector<'_> {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.clients.node_command("mcp-inspector");
        // The program's own arguments come before the inspector's options.
        command.arg("--cli").args(&self.target).args(args).args(["--format", "json"]);
        command.env("HOME", std::env::temp_dir());
        command
    }

    fn json(&self, args: &[&str]) -> Value {
        let output: Value = serde_json::from_str(&succeed(self.command(args))).unwrap();
        output["result"].clone()
    }
}

#[test]
fn the_inspector_lists_and_calls_over_both_transports() {
    let Some(clients) = clients() else { return };
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let program = [env!("CARGO_BIN_EXE_everlore"), "mcp", "-e"].map(str::to_owned);
    let environment = format!("EVERLORE_HOME={}", home.path().display());
    let over_stdio = [&program[..], &[environment]].concat();
    let header = format!("Authorization: Bearer {}", server.token);
    let url = format!("http://{}/mcp", server.address);
    let over_http = [url, "--transport".into(), "http".into(), "--header".into(), header].to_vec();
    for (target, tea) in [(over_stdio, "龙井"), (over_http, "oolong")] {
        let inspector = McpInspector { clients: &clients, target };
        let tools = inspector.json(&["--method", "tools/list", "--strict"]);
        assert_eq!(tools["tools"].as_array().unwrap().len(), 7, "{tools}");
        let content = format!("content=The user drinks {tea} tea.");
        let call = ["--method", "tools/call", "--tool-name", "memory_save", "--tool-arg", &content];
        let saved = inspector.json(&call);
        assert_eq!(saved["structuredContent"]["action"], "created", "{saved}");
        let read = inspector.json(&["--method", "resources/read", "--uri", "memory://recent"]);
        assert!(read["contents"][0]["text"].as_str().unwrap().contains(tea), "{read}");
        let prompts = inspector.json(&["--method", "prompts/list"]);
        assert_eq!(prompts["prompts"][0]["name"], "recall", "{prompts}");
        let call =
            ["--method", "tools/call", "--tool-name", "memory_get", "--tool-arg", "ids=[\"x\"]"];
        let refused = inspector.command(&call).output().unwrap();
        assert_eq!(refused.status.code(), Some(5), "the inspector's code for a tool that refuses");
    }
}

/// Proxy that only adds the token: the suite cannot send headers.
struct TokenProxy {
    address: String,
}

impl TokenProxy {
    fn in_front_of(server: &TestServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (own, target, token) = (address.clone(), server.address.clone(), server.token.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (own, target, token) = (own.clone(), target.clone(), token.clone());
                thread::spawn(move || forward(&stream, &own, &target, &token));
            }
        });
        Self { address }
    }
}

/// Forwards one request and its response; the suite opens a new connection for the next.
fn forward(stream: &TcpStream, own: &str, target: &str, token: &str) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(bytes) = lower.strip_prefix("content-length:") {
            length = bytes.trim().parse().ok()?;
        }
        if !lower.starts_with("connection:") {
            head.push_str(&line.replace(own, target));
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut server = TcpStream::connect(target).ok()?;
    write!(server, "{head}Authorization: Bearer {token}\r\nConnection: close\r\n\r\n").ok()?;
    server.write_all(&body).ok()?;
    std::io::copy(&mut server, &mut &*stream).ok()?;
    Some(())
}

#[test]
fn the_conformance_suite_finds_nothing_but_its_own_fixtures_missing() {
    let Some(clients) = clients() else { return };
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let front = TokenProxy::in_front_of(&server);
    let url = format!("http://{}/mcp", front.address);
    for era in ["2025-11-25", "2026-07-28"] {
        let baseline =
            format!("{}/tests/clients/mcp_conformance_{era}.yml", env!("CARGO_MANIFEST_DIR"));
        let mut suite = clients.node_command("conformance");
        suite.args(["server", "--url", &url, "--requirements", era]);
        suite.args(["--expected-failures", &baseline, "--output-dir"]).arg(home.sibling(era));
        let output = succeed(suite);
        assert!(output.contains("Total:"), "{output}");
        assert_meaningful(&output, era);
    }
}

/// Checks that the scenarios without fixtures passed, so that a server without answers does not pass.
fn assert_meaningful(output: &str, era: &str) {
    let both = ["tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"];
    let own: &[&str] = match era {
        "2025-11-25" => &["server-initialize", "ping"],
        _ => &["caching", "sep-2164-resource-not-found", "http-header-validation"],
    };
    for scenario in both.iter().chain(own) {
        assert!(output.contains(&format!("✓ {scenario}: ")), "{scenario} in {output}");
    }
}
