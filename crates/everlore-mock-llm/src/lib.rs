//! A local server that plays the part of a model provider, by a script: for tests and demonstrations, never shipped.
//!
//! It speaks HTTP/1.1 on a loopback port, on threads of its own, so that blocking and async code and other processes can
//! ask it alike. A [`Responder`] answers each request with a [`HttpResponse`], which may be slow, cut off or streamed in pieces;
//! replies given by [`MockServer::then`] come before it. Every request is kept to be looked at.

mod http_request;
mod http_response;
pub mod embeddings;
pub mod chat;

use std::{
    collections::VecDeque,
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

pub use chat::{MockChat, ModelResponse};
pub use embeddings::MockEmbeddings;
pub use http_request::HttpRequest;
pub use http_response::{BodyStep, HttpResponse};

/// Far longer than anything takes that a test waits for.
const DEADLINE: Duration = Duration::from_secs(30);

/// How often a held reply looks whether somebody still waits for it.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Answers requests.
pub trait Responder: Send + 'static {
    /// The answer to a request.
    fn respond(&mut self, request: &HttpRequest) -> HttpResponse;
}

impl<F: FnMut(&HttpRequest) -> HttpResponse + Send + 'static> Responder for F {
    fn respond(&mut self, request: &HttpRequest) -> HttpResponse {
        self(request)
    }
}

/// A server that runs until it is dropped.
pub struct MockServer {
    address: SocketAddr,
    shared: Arc<SharedState>,
}

/// What the threads share.
struct SharedState {
    state: Mutex<ServerState>,
    changed: Condvar,
}

struct ServerState {
    responder: Box<dyn Responder>,
    queued_responses: VecDeque<HttpResponse>,
    requests: Vec<HttpRequest>,
    connections: Vec<TcpStream>,
    /// How many replies are being held back.
    held: usize,
    /// How many clients went away from a reply that was held back.
    disconnects: usize,
    released: bool,
    closed: bool,
}

impl MockServer {
    /// Starts to listen on a free port of this machine.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn start(script: impl Responder) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the port was just given");
        let state = ServerState {
            responder: Box::new(script),
            queued_responses: VecDeque::new(),
            requests: Vec::new(),
            connections: Vec::new(),
            held: 0,
            disconnects: 0,
            released: false,
            closed: false,
        };
        let shared = Arc::new(SharedState { state: Mutex::new(state), changed: Condvar::new() });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &accepting));
        Self { address, shared }
    }

    /// Its address, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next request that no earlier reply waits for is answered with this, whatever the script says.
    pub fn enqueue(&self, reply: HttpResponse) {
        self.shared.state().queued_responses.push_back(reply);
    }

    /// Every request so far, in the order in which they came.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.shared.state().requests.clone()
    }

    /// Waits until so many requests came.
    ///
    /// # Panics
    /// If they do not come.
    pub fn await_requests(&self, count: usize) {
        self.shared.wait_until(|state| state.requests.len() >= count);
    }

    /// Waits until a reply has come to a [`BodyStep::Hold`].
    ///
    /// # Panics
    /// If none does.
    pub fn await_held(&self) {
        self.shared.wait_until(|state| state.held > 0);
    }

    /// Waits until whoever waited for a held reply has gone away.
    ///
    /// # Panics
    /// If nobody goes.
    pub fn await_disconnect(&self) {
        self.shared.wait_until(|state| state.disconnects > 0);
    }

    /// Lets all replies go on that are held back, now and later.
    pub fn release(&self) {
        self.shared.state().released = true;
        self.shared.changed.notify_all();
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.closed = true;
        for connection in state.connections.drain(..) {
            // It may be closed already.
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(state);
        self.shared.changed.notify_all();
        // Wakes the thread that waits for the next connection, so that the port is free again.
        let _ = TcpStream::connect(self.address);
    }
}

impl SharedState {
    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(&self, until: impl Fn(&ServerState) -> bool) {
        let waited = self.changed.wait_timeout_while(self.state(), DEADLINE, |state| !until(state));
        let timeout = waited.unwrap_or_else(PoisonError::into_inner).1;
        assert!(!timeout.timed_out(), "the server waited in vain");
    }

    /// Notes a request and finds its answer.
    fn respond(&self, request: HttpRequest) -> HttpResponse {
        let mut state = self.state();
        let reply = match state.queued_responses.pop_front() {
            Some(reply) => reply,
            None => state.responder.respond(&request),
        };
        state.requests.push(request);
        drop(state);
        self.changed.notify_all();
        reply
    }

    /// Holds a reply back until it is released; false if the server is closed or the client gone instead.
    fn hold(&self, connection: &TcpStream) -> bool {
        let mut state = self.state();
        state.held += 1;
        self.changed.notify_all();
        while !state.released && !state.closed && !is_disconnected(connection) {
            let waited = self.changed.wait_timeout(state, POLL_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.held -= 1;
        let stays = state.released && !state.closed;
        if !stays && !state.closed {
            state.disconnects += 1;
        }
        drop(state);
        self.changed.notify_all();
        stays
    }
}

/// Whether the client has ended the connection: a client that waits sends nothing.
fn is_disconnected(connection: &TcpStream) -> bool {
    if connection.set_nonblocking(true).is_err() {
        return true;
    }
    let gone = match connection.peek(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    };
    connection.set_nonblocking(false).is_err() || gone
}

fn accept(listener: &TcpListener, stage: &Arc<SharedState>) {
    for connection in listener.incoming().flatten() {
        // What is sent goes out at once, as with the real ones; a client that waits loses nothing if it does not.
        let _ = connection.set_nodelay(true);
        let mut state = stage.state();
        if state.closed {
            return;
        }
        state.connections.extend(connection.try_clone());
        drop(state);
        let stage = Arc::clone(stage);
        thread::spawn(move || serve(&connection, &stage));
    }
}

/// Answers the requests of a connection one after the other until one side ends it.
fn serve(connection: &TcpStream, stage: &SharedState) {
    let Ok(reading) = connection.try_clone() else { return };
    let mut reader = std::io::BufReader::new(reading);
    let mut writer = connection;
    while let Ok(Some(request)) = http_request::read_request(&mut reader) {
        let reply = stage.respond(request);
        let kept = reply.write(&mut writer, &mut || stage.hold(connection));
        if !matches!(kept, Ok(true)) {
            break;
        }
    }
    // It may be closed already.
    let _ = connection.shutdown(Shutdown::Both);
}
