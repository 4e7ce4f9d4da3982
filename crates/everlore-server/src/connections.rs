//! Connection table: a bounded number of connections, fewer for one remote address, and room for new ones by closing
//! those that stand still.
//!
//! A connection stands still while it waits for its client: for a request, or for the client to read the response. One
//! that is being answered is never closed for another, but a client without a key cannot keep one so. The last places
//! are for the owner's programs on this machine.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::sync::Notify;

use crate::{App, Problem, auth::candidate_secrets, lock};

/// Concurrent connections: each costs some memory, and one machine has few clients.
const MAX_CONNECTIONS: usize = 512;

/// Connections of one remote address: many more than a browser or a program opens, a quarter of all.
const MAX_PER_REMOTE_PEER: usize = 128;

/// Connections from this machine beyond the others, in which only the owner's token is answered.
const RESERVED_FOR_OWNER: usize = 16;

/// Open connections of a server.
#[derive(Default)]
pub(crate) struct ConnectionTable {
    open: Mutex<HashMap<u64, Arc<Connection>>>,
    next_id: AtomicU64,
}

/// Connection and the state by which it is closed for another.
pub(crate) struct Connection {
    peer: IpAddr,
    /// `true` if only the owner's token is answered.
    pub(crate) is_reserved: bool,
    activity: Mutex<Activity>,
    closed: Notify,
}

/// Progress of a connection, which tells whether it waits for its client.
struct Activity {
    /// Requests being answered, up to the last byte of the response.
    answering: usize,
    /// Set while the client does not read what it was sent.
    write_blocked: bool,
    /// Last change of the above.
    since: Instant,
}

impl ConnectionTable {
    /// Takes a place for a new connection, closing one that stands still if there is none; `None` if all are busy.
    pub(crate) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionGuard> {
        let mut open = lock(&self.open);
        let of_peer = open.values().filter(|other| other.peer == peer).count();
        if !peer.is_loopback() && of_peer >= MAX_PER_REMOTE_PEER {
            close_stalest(&mut open, |other| other.peer == peer).then_some(())?;
        }
        if open.len() >= MAX_CONNECTIONS {
            // A remote client takes no place of the owner's programs.
            close_stalest(&mut open, |other| peer.is_loopback() || !other.is_reserved);
        }
        let is_reserved = open.len() >= MAX_CONNECTIONS;
        let has_reserve = open.len() < MAX_CONNECTIONS + RESERVED_FOR_OWNER;
        if is_reserved && !(peer.is_loopback() && has_reserve) {
            return None;
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection::new(peer, is_reserved));
        open.insert(id, Arc::clone(&connection));
        Some(ConnectionGuard { table: Arc::clone(self), id, connection })
    }
}

/// Closes the connection that has stood still for longest among those that `may_close`; `false` if none does.
fn close_stalest(
    open: &mut HashMap<u64, Arc<Connection>>,
    may_close: impl Fn(&Connection) -> bool,
) -> bool {
    let stalled = open.iter().filter(|(_, other)| may_close(other));
    let stalled = stalled.filter_map(|(id, other)| Some((other.stalled_since()?, *id)));
    let Some((_, id)) = stalled.min() else { return false };
    let closed = open.remove(&id);
    closed.inspect(|connection| connection.closed.notify_one()).is_some()
}

impl Connection {
    fn new(peer: IpAddr, is_reserved: bool) -> Self {
        let activity = Activity { answering: 0, write_blocked: false, since: Instant::now() };
        Self { peer, is_reserved, activity: Mutex::new(activity), closed: Notify::new() }
    }

    /// Completes when the connection is closed to make room.
    pub(crate) async fn closed(&self) {
        self.closed.notified().await;
    }

    /// Marks a request as being answered until the guard is dropped.
    pub(crate) fn begin_answer(self: &Arc<Self>) -> AnswerGuard {
        self.change(|activity| activity.answering += 1);
        AnswerGuard(Arc::clone(self))
    }

    /// Records that the client does not read, or reads again.
    pub(crate) fn set_write_blocked(&self, is_blocked: bool) {
        if lock(&self.activity).write_blocked != is_blocked {
            self.change(|activity| activity.write_blocked = is_blocked);
        }
    }

    fn change(&self, change: impl FnOnce(&mut Activity)) {
        let mut activity = lock(&self.activity);
        change(&mut activity);
        activity.since = Instant::now();
    }

    /// Returns since when the connection has waited for its client; `None` while it is being answered.
    fn stalled_since(&self) -> Option<Instant> {
        let activity = lock(&self.activity);
        (activity.answering == 0 || activity.write_blocked).then_some(activity.since)
    }
}

/// Request of a connection that is being answered.
pub(crate) struct AnswerGuard(Arc<Connection>);

impl Drop for AnswerGuard {
    fn drop(&mut self) {
        self.0.change(|activity| activity.answering = activity.answering.saturating_sub(1));
    }
}

/// Place of an open connection, free again when it is dropped.
pub(crate) struct ConnectionGuard {
    table: Arc<ConnectionTable>,
    id: u64,
    pub(crate) connection: Arc<Connection>,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        lock(&self.table.open).remove(&self.id);
    }
}

/// Marks requests of a connection that is reserved for the owner.
#[derive(Clone, Copy)]
pub(crate) struct ReservedConnection;

/// Middleware that answers only the owner on reserved connections, and whoever asks if the server is alive.
pub(crate) async fn check_reserved(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let is_reserved = request.extensions().get::<ReservedConnection>().is_some();
    let is_public = ["/health", "/ready"].contains(&request.uri().path());
    if is_reserved && !is_public && !is_owner(&app, request.headers()) {
        return server_busy("all connections are in use").into_response();
    }
    next.run(request).await
}

/// Returns `true` if a request carries the owner's token, wherever a client puts it, or comes from the owner's browser.
fn is_owner(app: &App, headers: &HeaderMap) -> bool {
    let cookie = app.page_cookie.secret(headers);
    let mut given = candidate_secrets(headers, &["bearer", "token"]);
    given.any(|secret| app.credentials.is_token(secret))
        || cookie.is_some_and(|secret| app.credentials.is_owner_cookie(secret))
}

/// Returns the problem of a server or a key that has no room for another request.
pub(crate) fn server_busy(title: &str) -> Problem {
    Problem {
        retry_after: Some(1),
        ..Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy",
            title,
            "wait for the seconds in Retry-After and send the request again",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const REMOTE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 7));

    fn fill(table: &Arc<ConnectionTable>, peer: IpAddr, count: usize) -> Vec<ConnectionGuard> {
        (0..count).map(|_| table.admit(peer).unwrap()).collect()
    }

    #[test]
    fn the_connection_that_stood_still_for_longest_makes_room() {
        let table = Arc::new(ConnectionTable::default());
        let all = fill(&table, LOCAL, MAX_CONNECTIONS);
        let _answering = all[0].connection.begin_answer();
        let new = table.admit(LOCAL).unwrap();
        assert!(!new.connection.is_reserved);
        let open = lock(&table.open);
        assert!(open.contains_key(&all[0].id), "it is being answered");
        assert!(!open.contains_key(&all[1].id) && open.contains_key(&all[2].id));
    }

    #[test]
    fn answers_that_nobody_reads_make_room_too() {
        let table = Arc::new(ConnectionTable::default());
        let all = fill(&table, LOCAL, MAX_CONNECTIONS);
        let _answering: Vec<_> = all.iter().map(|one| one.connection.begin_answer()).collect();
        all[7].connection.set_write_blocked(true);
        let new = table.admit(REMOTE).unwrap();
        assert!(!new.connection.is_reserved && !lock(&table.open).contains_key(&all[7].id));
    }

    #[test]
    fn the_last_places_are_for_programs_of_this_machine() {
        let table = Arc::new(ConnectionTable::default());
        let all = fill(&table, LOCAL, MAX_CONNECTIONS);
        let _answering: Vec<_> = all.iter().map(|one| one.connection.begin_answer()).collect();
        assert!(table.admit(REMOTE).is_none());
        let idle = table.admit(LOCAL).unwrap();
        let reserved: Vec<_> = (0..RESERVED_FOR_OWNER)
            .map(|_| {
                let one = table.admit(LOCAL).unwrap();
                let answering = one.connection.begin_answer();
                (one, answering)
            })
            .collect();
        assert!(reserved.iter().all(|(one, _)| one.connection.is_reserved));
        assert!(!lock(&table.open).contains_key(&idle.id), "it stood still");
        assert!(table.admit(REMOTE).is_none());
        assert!(table.admit(LOCAL).is_none());
        drop((idle, reserved, all));
        assert_eq!(lock(&table.open).len(), 0);
    }

    #[test]
    fn one_remote_address_has_a_part_of_the_places() {
        let table = Arc::new(ConnectionTable::default());
        let all = fill(&table, REMOTE, MAX_PER_REMOTE_PEER);
        let answering: Vec<_> = all.iter().map(|one| one.connection.begin_answer()).collect();
        assert!(table.admit(REMOTE).is_none());
        assert!(table.admit(LOCAL).is_some());
        drop(answering);
        assert!(table.admit(REMOTE).is_some(), "one that stands still makes room");
    }
}
