//! Server tests: a process of its own, reached over HTTP as clients do.

mod access;
mod api;
mod browsers;
mod checks;
mod experiences;
mod skills;
mod schedules;
mod trajectories;
mod files;
mod forgetting;
mod hostile_clients;
mod shutdown;
#[cfg(target_os = "linux")]
mod load;
mod intruders;
mod large_home;
#[cfg(feature = "remote")]
pub(super) mod proxy;
mod vault_and_agents;
mod settings;
pub(super) mod tls;
mod every_route;
mod owner;
#[cfg(all(feature = "remote", unix))]
mod kill_ways;
mod two_users;
mod why_not;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
    time::Duration,
};

use everlore_mock_llm::{
    HttpRequest, HttpResponse, MockChat, MockEmbeddings, MockServer, ModelResponse, Responder,
};
use serde_json::Value;
use ureq::http::{HeaderMap, Request};

pub(super) use self::files::encoded;
use crate::home::TestHome;

/// Longer than any request here takes; a server that hangs fails its test.
const DEADLINE: Duration = Duration::from_secs(60);

/// Provider of chat and embeddings.
pub(super) struct ChatAndEmbeddings(pub(super) MockChat, pub(super) MockEmbeddings);

impl Responder for ChatAndEmbeddings {
    fn respond(&mut self, request: &HttpRequest) -> HttpResponse {
        match request.path.split('?').next() {
            Some("/v1/embeddings") => self.1.respond(request),
            _ => self.0.respond(request),
        }
    }
}

/// Starts a provider that speaks every API of the proxy, and a home whose settings name it.
pub(super) fn provider_and_home() -> (MockServer, TestHome) {
    let chats = MockChat::new().otherwise(|_| ModelResponse::text("龙井 and oolong."));
    let server = MockServer::start(ChatAndEmbeddings(chats, MockEmbeddings::default()));
    let home = TestHome::new();
    let settings = format!(
        "[chat]\nprovider = \"ollama\"\nmodel = \"scripted-chat\"\nbase_url = \"{}\"\n",
        server.url()
    );
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("config.toml"), settings).unwrap();
    (server, home)
}

/// Server process that is killed at the end of the test.
pub(super) struct TestServer {
    pub(super) child: Child,
    pub(super) address: String,
    pub(super) url: String,
    pub(super) token: String,
}

/// Response of a server.
#[derive(Debug)]
pub(super) struct ApiResponse {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
}

impl TestServer {
    /// Starts a server on a free port and waits until it prints its address.
    pub(super) fn start(home: &TestHome, args: &[&str]) -> Self {
        Self::start_with_timeouts(home, args, "")
    }

    /// Starts a server whose output is read up to its address, and whose streams are closed then.
    pub(super) fn start_unread(home: &TestHome) -> Self {
        let mut command = home.command(&["serve", "--port", "0", "-v"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            line.unwrap().split_once("://").map(|(_, address)| address.trim().to_owned())
        });
        let address = address.unwrap();
        let token = fs::read_to_string(home.path().join("server.token")).unwrap();
        Self { child, url: format!("http://{address}"), address, token: token.trim().to_owned() }
    }

    /// Starts a server with shorter time limits in milliseconds, such as `headers=500,body=500`.
    pub(super) fn start_with_timeouts(home: &TestHome, args: &[&str], timeouts: &str) -> Self {
        let mut command = home.command(&[&["--json", "serve", "--port", "0"], args].concat());
        command.env("EVERLORE_TEST_TIMEOUTS", timeouts);
        let log = fs::File::options().append(true).create(true).open(home.sibling("log")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let log = || fs::read_to_string(home.sibling("log")).unwrap();
        let started: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}{}", log()));
        let url = started["url"].as_str().unwrap().to_owned();
        let address = url.split_once("://").unwrap().1.to_owned();
        let token = fs::read_to_string(started["token_file"].as_str().unwrap()).unwrap();
        Self { child, address, url, token: token.trim().to_owned() }
    }

    /// Sends a request as the owner.
    pub(super) fn request(&self, method: &str, path: &str, body: Option<Value>) -> ApiResponse {
        self.request_as(&self.token, method, path, body)
    }

    /// Sends a request with another secret.
    pub(super) fn request_as(
        &self,
        secret: &str,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> ApiResponse {
        self.request_with_headers(
            &[("authorization", &format!("Bearer {secret}"))],
            method,
            path,
            body,
        )
    }

    /// Sends a request with these headers.
    pub(super) fn request_with_headers(
        &self,
        headers: &[(&str, &str)],
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> ApiResponse {
        self.try_request(headers, method, path, body).unwrap()
    }

    /// Sends a request to a server that may have ended.
    pub(super) fn try_request(
        &self,
        headers: &[(&str, &str)],
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Result<ApiResponse, ureq::Error> {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(DEADLINE))
            .allow_non_standard_methods(true)
            .proxy(None);
        let agent: ureq::Agent = config.build().into();
        let mut request =
            Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, value.as_bytes());
        }
        let mut response = match body {
            Some(body) if headers.iter().any(|(name, _)| *name == "content-type") => {
                // A JSON string is sent as plain text.
                agent.run(request.body(body.as_str().unwrap().to_owned())?)?
            }
            Some(body) => agent
                .run(request.header("content-type", "application/json").body(body.to_string())?)?,
            None => agent.run(request.body(())?)?,
        };
        let text = response.body_mut().read_to_string()?;
        Ok(ApiResponse {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text,
        })
    }

    /// Sends bytes and reads until the server closes the connection.
    pub(super) fn send_raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // A server that has already refused may not read all of it.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// Sends SIGTERM.
    #[cfg(unix)]
    pub(super) fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(
            std::process::Command::new("sh")
                .args(["-c", "kill -TERM $0", &pid])
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ApiResponse {
    /// Parses the body as JSON, after checking the status.
    #[track_caller]
    pub(super) fn json(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        serde_json::from_str(&self.text).unwrap()
    }

    /// Returns the code of a problem, after checking the status.
    #[track_caller]
    pub(super) fn problem_code(&self, status: u16) -> String {
        let problem = self.json(status);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(problem["status"], status);
        for field in ["type", "title", "detail", "instance"] {
            assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{problem}");
        }
        problem["code"].as_str().unwrap().to_owned()
    }
}

/// Returns the texts of listed or recalled memories.
pub(super) fn contents(memories: &Value) -> Vec<&str> {
    memories.as_array().unwrap().iter().map(|memory| memory["content"].as_str().unwrap()).collect()
}

/// Returns the id of a saved memory.
pub(super) fn id(saved: &Value) -> String {
    saved["id"].as_str().unwrap().to_owned()
}
