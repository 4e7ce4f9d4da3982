//! TCP proxy that disturbs connections: latency, cut connections, half messages, refusal, silence.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    sync::{mpsc, watch},
    task::{JoinHandle, JoinSet},
    time::Instant,
};

use crate::ports::ReservedPort;

/// Most bytes read at once, as much as a loopback packet holds.
const CHUNK_BYTES: usize = 65_536;

/// Chunks on their way in one direction; more wait in the sender's socket.
const CHUNKS_IN_FLIGHT: usize = 1_024;

/// Disturbance of all connections of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No disturbance.
    None,
    /// Delivers every byte this much later, in both directions.
    Delay(Duration),
    /// Cuts a connection after this many more bytes of its client.
    TruncateRequests(usize),
    /// Cuts a connection after this many more bytes of its server.
    TruncateResponses(usize),
    /// Cuts all connections and refuses new ones.
    Refuse,
    /// Delivers nothing in either direction until the fault ends; connections stay open and new ones are accepted.
    Blackhole,
}

/// State that a test switches and all connections watch.
#[derive(Clone, Copy, Debug)]
struct ProxyState {
    fault: Fault,
    /// Number of switches; the listener tells when it has followed one.
    switches: u64,
    /// Number of cuts; a connection ends when it changes.
    cuts: u64,
}

/// Proxy on loopback before a server, which ends when it is dropped. It runs on the runtime that started it.
#[derive(Debug)]
pub struct FaultProxy {
    port: ReservedPort,
    state: watch::Sender<ProxyState>,
    followed: watch::Receiver<u64>,
    listener: JoinHandle<()>,
}

impl FaultProxy {
    /// Starts a proxy before the server at this address.
    pub async fn start(server: SocketAddr) -> Self {
        let port = ReservedPort::new();
        let (state, states) =
            watch::channel(ProxyState { fault: Fault::None, switches: 0, cuts: 0 });
        let (follow, followed) = watch::channel(0);
        let socket = TcpListener::bind(port.address()).await.expect("the port is reserved");
        let address = port.address();
        let listener = tokio::spawn(async move {
            // It runs until it is aborted.
            let _ = listen(socket, address, server, states, follow).await;
        });
        Self { port, state, followed, listener }
    }

    /// Returns the address for clients.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// Switches to another disturbance, for open and new connections; returns when new ones meet it.
    pub async fn set(&self, fault: Fault) {
        let cuts = u64::from(fault == Fault::Refuse);
        self.change(|state| *state = ProxyState { fault, cuts: state.cuts + cuts, ..*state }).await;
    }

    /// Cuts all open connections. New ones meet the disturbance that is set.
    pub async fn cut(&self) {
        self.change(|state| state.cuts += 1).await;
    }

    async fn change(&self, change: impl FnOnce(&mut ProxyState)) {
        self.state.send_modify(|state| {
            change(state);
            state.switches += 1;
        });
        let switches = self.state.borrow().switches;
        let mut followed = self.followed.clone();
        followed.wait_for(|seen| *seen >= switches).await.expect("the listener runs");
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        // The tasks of its connections belong to the listener.
        self.listener.abort();
    }
}

/// Accepts connections, except while they are refused: then no socket listens.
async fn listen(
    socket: TcpListener,
    address: SocketAddr,
    server: SocketAddr,
    mut states: watch::Receiver<ProxyState>,
    follow: watch::Sender<u64>,
) -> io::Result<()> {
    let mut connections = JoinSet::new();
    let mut socket = Some(socket);
    loop {
        let state = *states.borrow_and_update();
        match state.fault {
            Fault::Refuse => socket = None,
            _ if socket.is_none() => socket = Some(TcpListener::bind(address).await?),
            _ => {}
        }
        follow.send_replace(state.switches);
        tokio::select! {
            _ = states.changed() => {}
            Some(_) = connections.join_next() => {}
            client = accept(socket.as_ref()) => {
                connections.spawn(relay(client?, server, states.clone()));
            }
        }
    }
}

/// Accepts a connection, or waits forever without a socket.
async fn accept(socket: Option<&TcpListener>) -> io::Result<TcpStream> {
    match socket {
        Some(socket) => socket.accept().await.map(|(client, _)| client),
        None => std::future::pending().await,
    }
}

/// Connects a client with the server until one of them closes or the connection is cut.
async fn relay(
    mut client: TcpStream,
    server: SocketAddr,
    mut states: watch::Receiver<ProxyState>,
) -> io::Result<()> {
    let cuts = states.borrow().cuts;
    pass_blackhole(&mut states).await;
    let mut server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (client_reader, client_writer) = client.split();
    let (server_reader, server_writer) = server.split();
    let requests = Direction { is_request: true, states: states.clone() };
    let responses = Direction { is_request: false, states: states.clone() };
    tokio::select! {
        ended = requests.forward(client_reader, server_writer) => ended,
        ended = responses.forward(server_reader, client_writer) => ended,
        _ = states.wait_for(|state| state.cuts != cuts) => reset(&client, &server),
    }
}

/// Makes both sides see an error instead of an end.
fn reset(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    client.set_zero_linger()?;
    server.set_zero_linger()
}

/// One direction of a connection.
struct Direction {
    is_request: bool,
    states: watch::Receiver<ProxyState>,
}

impl Direction {
    /// Forwards bytes until the reader ends or the fault cuts the connection.
    async fn forward(self, reader: ReadHalf<'_>, writer: WriteHalf<'_>) -> io::Result<()> {
        let (sender, chunks) = mpsc::channel(CHUNKS_IN_FLIGHT);
        let states = self.states.clone();
        let (read, written) =
            tokio::join!(self.read_chunks(reader, sender), write_chunks(writer, chunks, states));
        read.and(written)
    }

    /// Reads chunks and notes when each is due.
    async fn read_chunks(
        mut self,
        mut reader: ReadHalf<'_>,
        sender: mpsc::Sender<(Instant, Vec<u8>)>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK_BYTES];
        let (mut switches, mut passed) = (0, 0);
        loop {
            let length = reader.read(&mut buffer).await?;
            pass_blackhole(&mut self.states).await;
            let state = *self.states.borrow();
            if state.switches != switches {
                (switches, passed) = (state.switches, 0);
            }
            let allowed =
                self.limit(state.fault).map_or(length, |limit| length.min(limit - passed));
            passed += allowed;
            let due = Instant::now() + delay(state.fault);
            let sent = sender.send((due, buffer[..allowed].to_vec())).await;
            if sent.is_err() || length == 0 || self.limit(state.fault) == Some(passed) {
                return Ok(());
            }
        }
    }

    /// Returns after how many bytes of this direction the connection is cut.
    fn limit(&self, fault: Fault) -> Option<usize> {
        match fault {
            Fault::TruncateRequests(limit) if self.is_request => Some(limit),
            Fault::TruncateResponses(limit) if !self.is_request => Some(limit),
            _ => None,
        }
    }
}

/// Writes chunks when they are due.
async fn write_chunks(
    mut writer: WriteHalf<'_>,
    mut chunks: mpsc::Receiver<(Instant, Vec<u8>)>,
    mut states: watch::Receiver<ProxyState>,
) -> io::Result<()> {
    while let Some((due, chunk)) = chunks.recv().await {
        tokio::time::sleep_until(due).await;
        pass_blackhole(&mut states).await;
        writer.write_all(&chunk).await?;
    }
    Ok(())
}

fn delay(fault: Fault) -> Duration {
    match fault {
        Fault::Delay(delay) => delay,
        _ => Duration::ZERO,
    }
}

/// Waits while nothing is delivered.
async fn pass_blackhole(states: &mut watch::Receiver<ProxyState>) {
    // The sender is gone only with the proxy, whose drop ends this task too.
    let _ = states.wait_for(|state| state.fault != Fault::Blackhole).await;
}
