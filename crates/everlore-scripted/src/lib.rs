//! A local server that plays the part of a model provider, by a script: for tests and demonstrations, never shipped.
//!
//! It speaks HTTP/1.1 on a loopback port, on threads of its own, so that blocking and async code and other processes can
//! ask it alike. A [`Script`] answers each request with a [`Reply`], which may be slow, cut off or streamed in pieces;
//! replies given by [`Server::then`] come before it. Every request is kept to be looked at.

mod http;
mod reply;
pub mod embeddings;
pub mod chats;

use std::{
    collections::VecDeque,
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

pub use chats::{Chats, Said};
pub use embeddings::Embeddings;
pub use http::Request;
pub use reply::{Reply, Step};

/// Far longer than anything takes that a test waits for.
const DEADLINE: Duration = Duration::from_secs(30);

/// How often a held reply looks whether somebody still waits for it.
const GLANCE: Duration = Duration::from_millis(5);

/// Answers requests.
pub trait Script: Send + 'static {
    /// The answer to a request.
    fn answer(&mut self, request: &Request) -> Reply;
}

impl<F: FnMut(&Request) -> Reply + Send + 'static> Script for F {
    fn answer(&mut self, request: &Request) -> Reply {
        self(request)
    }
}

/// A server that runs until it is dropped.
pub struct Server {
    address: SocketAddr,
    stage: Arc<Stage>,
}

/// What the threads share.
struct Stage {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    script: Box<dyn Script>,
    queue: VecDeque<Reply>,
    seen: Vec<Request>,
    connections: Vec<TcpStream>,
    /// How many replies are being held back.
    held: usize,
    /// How many clients went away from a reply that was held back.
    gone: usize,
    released: bool,
    closed: bool,
}

impl Server {
    /// Starts to listen on a free port of this machine.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn start(script: impl Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the port was just given");
        let state = State {
            script: Box::new(script),
            queue: VecDeque::new(),
            seen: Vec::new(),
            connections: Vec::new(),
            held: 0,
            gone: 0,
            released: false,
            closed: false,
        };
        let stage = Arc::new(Stage { state: Mutex::new(state), changed: Condvar::new() });
        let shared = Arc::clone(&stage);
        thread::spawn(move || accept(&listener, &shared));
        Self { address, stage }
    }

    /// Its address, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next request that no earlier reply waits for is answered with this, whatever the script says.
    pub fn then(&self, reply: Reply) {
        self.stage.state().queue.push_back(reply);
    }

    /// Every request so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.stage.state().seen.clone()
    }

    /// Waits until so many requests came.
    ///
    /// # Panics
    /// If they do not come.
    pub fn await_requests(&self, count: usize) {
        self.stage.wait(|state| state.seen.len() >= count);
    }

    /// Waits until a reply has come to a [`Step::Hold`].
    ///
    /// # Panics
    /// If none does.
    pub fn await_held(&self) {
        self.stage.wait(|state| state.held > 0);
    }

    /// Waits until whoever waited for a held reply has gone away.
    ///
    /// # Panics
    /// If nobody goes.
    pub fn await_gone(&self) {
        self.stage.wait(|state| state.gone > 0);
    }

    /// Lets all replies go on that are held back, now and later.
    pub fn release(&self) {
        self.stage.state().released = true;
        self.stage.changed.notify_all();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut state = self.stage.state();
        state.closed = true;
        for connection in state.connections.drain(..) {
            // It may be closed already.
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(state);
        self.stage.changed.notify_all();
        // Wakes the thread that waits for the next connection, so that the port is free again.
        let _ = TcpStream::connect(self.address);
    }
}

impl Stage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, until: impl Fn(&State) -> bool) {
        let waited = self.changed.wait_timeout_while(self.state(), DEADLINE, |state| !until(state));
        let timeout = waited.unwrap_or_else(PoisonError::into_inner).1;
        assert!(!timeout.timed_out(), "the server waited in vain");
    }

    /// Notes a request and finds its answer.
    fn answer(&self, request: Request) -> Reply {
        let mut state = self.state();
        let reply = match state.queue.pop_front() {
            Some(reply) => reply,
            None => state.script.answer(&request),
        };
        state.seen.push(request);
        drop(state);
        self.changed.notify_all();
        reply
    }

    /// Holds a reply back until it is released; false if the server is closed or the client gone instead.
    fn hold(&self, connection: &TcpStream) -> bool {
        let mut state = self.state();
        state.held += 1;
        self.changed.notify_all();
        while !state.released && !state.closed && !is_gone(connection) {
            let waited = self.changed.wait_timeout(state, GLANCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.held -= 1;
        let stays = state.released && !state.closed;
        if !stays && !state.closed {
            state.gone += 1;
        }
        drop(state);
        self.changed.notify_all();
        stays
    }
}

/// Whether the client has ended the connection: a client that waits sends nothing.
fn is_gone(connection: &TcpStream) -> bool {
    if connection.set_nonblocking(true).is_err() {
        return true;
    }
    let gone = match connection.peek(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    };
    connection.set_nonblocking(false).is_err() || gone
}

fn accept(listener: &TcpListener, stage: &Arc<Stage>) {
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
fn serve(connection: &TcpStream, stage: &Stage) {
    let Ok(reading) = connection.try_clone() else { return };
    let mut reader = std::io::BufReader::new(reading);
    let mut writer = connection;
    while let Ok(Some(request)) = http::read(&mut reader) {
        let reply = stage.answer(request);
        let kept = reply.write(&mut writer, &mut || stage.hold(connection));
        if !matches!(kept, Ok(true)) {
            break;
        }
    }
    // It may be closed already.
    let _ = connection.shutdown(Shutdown::Both);
}
