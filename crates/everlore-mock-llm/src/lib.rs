//! Scripted local server that speaks the wire protocols of model providers, for tests and demonstrations; never
//! shipped.
//!
//! It serves HTTP/1.1 on a loopback port with its own threads, so that blocking code, async code and other processes
//! can all call it. A [`Responder`] answers each request with an [`HttpResponse`], which may be slow, cut off or
//! streamed in chunks; responses queued by [`MockServer::enqueue`] come first. The server records every request.

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

/// Timeout of the `await_…` methods, far longer than anything that a test waits for.
const DEADLINE: Duration = Duration::from_secs(30);

/// Interval at which a held response checks that its client is still connected.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Script of a server.
pub trait Responder: Send + 'static {
    /// Returns the response to a request.
    fn respond(&mut self, request: &HttpRequest) -> HttpResponse;
}

impl<F: FnMut(&HttpRequest) -> HttpResponse + Send + 'static> Responder for F {
    fn respond(&mut self, request: &HttpRequest) -> HttpResponse {
        self(request)
    }
}

/// Server that runs until it is dropped.
pub struct MockServer {
    address: SocketAddr,
    shared: Arc<SharedState>,
}

/// State shared by the threads.
struct SharedState {
    state: Mutex<ServerState>,
    changed: Condvar,
}

struct ServerState {
    responder: Box<dyn Responder>,
    queued_responses: VecDeque<HttpResponse>,
    requests: Vec<HttpRequest>,
    connections: Vec<TcpStream>,
    /// Responses that are held back.
    held: usize,
    /// Clients that disconnected from a held response.
    disconnects: usize,
    released: bool,
    closed: bool,
}

impl MockServer {
    /// Starts a server on a free port of this machine.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn start(responder: impl Responder) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the port was just given");
        let state = ServerState {
            responder: Box::new(responder),
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

    /// Returns the server's URL, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues a response: it answers the next request that no earlier queued response takes, in place of the script.
    pub fn enqueue(&self, response: HttpResponse) {
        self.shared.state().queued_responses.push_back(response);
    }

    /// Returns every request so far, in order.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.shared.state().requests.clone()
    }

    /// Waits until the server has got this many requests.
    ///
    /// # Panics
    /// If it gets fewer within 30 seconds.
    pub fn await_requests(&self, count: usize) {
        self.shared.wait_until(|state| state.requests.len() >= count);
    }

    /// Waits until a response reaches a [`BodyStep::Hold`].
    ///
    /// # Panics
    /// If none does within 30 seconds.
    pub fn await_held(&self) {
        self.shared.wait_until(|state| state.held > 0);
    }

    /// Waits until a client disconnects from a held response.
    ///
    /// # Panics
    /// If none does within 30 seconds.
    pub fn await_disconnect(&self) {
        self.shared.wait_until(|state| state.disconnects > 0);
    }

    /// Releases all responses that are held back, now and later.
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
            // The client may have closed it already.
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(state);
        self.shared.changed.notify_all();
        // Wakes the accepting thread, so that the port becomes free.
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
        assert!(!timeout.timed_out(), "the awaited event did not happen within 30 seconds");
    }

    /// Records a request and returns its response.
    fn respond(&self, request: HttpRequest) -> HttpResponse {
        let mut state = self.state();
        let response = match state.queued_responses.pop_front() {
            Some(response) => response,
            None => state.responder.respond(&request),
        };
        state.requests.push(request);
        drop(state);
        self.changed.notify_all();
        response
    }

    /// Holds a response back until it is released; returns `false` if the server closes or the client disconnects
    /// first.
    fn hold(&self, connection: &TcpStream) -> bool {
        let mut state = self.state();
        state.held += 1;
        self.changed.notify_all();
        while !state.released && !state.closed && !is_disconnected(connection) {
            let waited = self.changed.wait_timeout(state, POLL_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.held -= 1;
        let goes_on = state.released && !state.closed;
        if !goes_on && !state.closed {
            state.disconnects += 1;
        }
        drop(state);
        self.changed.notify_all();
        goes_on
    }
}

/// Returns `true` if the client has ended the connection: a client that waits sends nothing.
fn is_disconnected(connection: &TcpStream) -> bool {
    if connection.set_nonblocking(true).is_err() {
        return true;
    }
    let ended = match connection.peek(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    };
    connection.set_nonblocking(false).is_err() || ended
}

fn accept(listener: &TcpListener, shared: &Arc<SharedState>) {
    for connection in listener.incoming().flatten() {
        // Real providers send at once, too. A failure costs only time.
        let _ = connection.set_nodelay(true);
        let mut state = shared.state();
        if state.closed {
            return;
        }
        state.connections.extend(connection.try_clone());
        drop(state);
        let shared = Arc::clone(shared);
        thread::spawn(move || serve(&connection, &shared));
    }
}

/// Serves the requests of a connection until one side ends it.
fn serve(connection: &TcpStream, shared: &SharedState) {
    let Ok(stream) = connection.try_clone() else { return };
    let mut reader = std::io::BufReader::new(stream);
    let mut writer = connection;
    while let Ok(Some(request)) = http_request::read_request(&mut reader) {
        let response = shared.respond(request);
        let reusable = response.write(&mut writer, &mut || shared.hold(connection));
        if !matches!(reusable, Ok(true)) {
            break;
        }
    }
    // It may be closed already.
    let _ = connection.shutdown(Shutdown::Both);
}
