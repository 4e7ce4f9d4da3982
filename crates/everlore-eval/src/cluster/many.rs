//! Many servers on one database under load, beside one server: nothing is lost, doubled or run twice, and what one server
//! saves another one recalls within a second.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use everlore_test_databases::{GaleraCluster, PostgresOptions, PostgresServer};
use serde_json::{Value, json};

use super::{
    ClusterOptions, ClusterReport,
    client::ClusterClient,
    failover::galera_urls,
    fleet::ServerFleet,
    verify::find_faults,
    writers::{WriteLoad, write_while},
};

/// Clients of the load.
const CLIENTS: usize = 64;

/// Longest time until a write is recalled through another server.
const SEEN_WITHIN_MS: f64 = 1_000.0;

/// Pause between two probes: they must not be the load.
const PROBE_PAUSE: Duration = Duration::from_millis(200);

/// Sessions that all servers are told to capture at once.
const SESSIONS: usize = 12;

/// Longest wait for all sessions to be captured.
const CAPTURED_WITHIN: Duration = Duration::from_secs(30);

/// Loads one server, then four, on one PostgreSQL.
pub(super) fn on_postgres(options: &ClusterOptions) -> Result<Vec<ClusterReport>> {
    let mut reports = Vec::new();
    for count in [1, 4] {
        let server = options.runtime.block_on(PostgresServer::start(PostgresOptions::default()));
        let name = format!("PostgreSQL, servers: {count}, clients: {CLIENTS}");
        reports.push(load(options, name, vec![server.url(); count])?);
    }
    Ok(reports)
}

/// Loads one server, then three, on a Galera cluster.
pub(super) fn on_galera(options: &ClusterOptions) -> Result<Vec<ClusterReport>> {
    let mut reports = Vec::new();
    for count in [1, 3] {
        let cluster = options.runtime.block_on(GaleraCluster::start(3));
        let mut urls = galera_urls(options, &cluster);
        urls.truncate(count);
        reports.push(load(options, format!("Galera, servers: {count}, clients: {CLIENTS}"), urls)?);
    }
    Ok(reports)
}

fn load(options: &ClusterOptions, name: String, urls: Vec<String>) -> Result<ClusterReport> {
    let fleet = ServerFleet::start(&options.binary, urls)?;
    let load = WriteLoad { clients: CLIENTS, recalls: true, has_impatient: false, number: 0 };
    let began = Instant::now();
    let (seen, log) = write_while(&fleet.access(), load, |_| probe(&fleet, options.length));
    let mut report = ClusterReport::new(name, &log, began.elapsed().as_secs_f64());
    let seen = seen?;
    if fleet.access().len() > 1 {
        report.seen_ms = Some(seen);
        if seen > SEEN_WITHIN_MS {
            report.faults.push(format!("a write was recalled elsewhere after {seen:.0} ms"));
        }
    }
    report.faults.extend(log.failures.iter().map(|(said, count)| format!("{count} × {said}")));
    report.faults.extend(find_faults(options, &fleet, &log)?);
    report.faults.extend(capture_everywhere(&fleet)?);
    Ok(report)
}

/// Saves through one server and recalls through the next, until the time is over; returns the longest wait in
/// milliseconds.
fn probe(fleet: &ServerFleet, length: Duration) -> Result<f64> {
    let (began, count) = (Instant::now(), fleet.access().len());
    let mut longest: f64 = 0.0;
    for number in 0.. {
        if began.elapsed() > length {
            break;
        }
        let (mut writer, mut reader) = (fleet.client(number), fleet.client((number + 1) % count));
        let text = format!("Probe q{number}z hangs beside the {number}th door of the hall.");
        let body = json!({ "content": text });
        let saved = writer.post("/v1/memories?user=probe", None, &body)?;
        let id = saved.body["id"].as_str().context("a probe without an id")?.to_owned();
        longest = longest.max(wait_until_recalled(&mut reader, &text, &id)?);
        thread::sleep(PROBE_PAUSE);
    }
    Ok(longest)
}

/// Returns how many milliseconds after a save the first recall that finds it was sent.
fn wait_until_recalled(reader: &mut ClusterClient, text: &str, id: &str) -> Result<f64> {
    let began = Instant::now();
    loop {
        let waited = began.elapsed().as_secs_f64() * 1e3;
        let answer = reader.post("/v1/recall?user=probe", None, &json!({ "query": text }))?;
        if answer.body.to_string().contains(id) || waited > 10.0 * SEEN_WITHIN_MS {
            return Ok(waited);
        }
    }
}

/// Ends sessions through all servers at once, and returns a line for each that was not captured exactly once.
fn capture_everywhere(fleet: &ServerFleet) -> Result<Vec<String>> {
    for user in 0..SESSIONS {
        let turn = json!({ "text": "I bought a red bicycle in Lisbon.", "session": "talk", "role": "user" });
        let told = fleet.client(user).post(&format!("/v1/turns?user=j{user}"), None, &turn)?;
        ensure!(told.is_success(), "a turn is refused: {told:?}");
    }
    thread::scope(|scope| {
        for server in 0..fleet.access().len() {
            scope.spawn(move || {
                for user in 0..SESSIONS {
                    // A server that finds the session leased answers so; the journal tells who captured it.
                    let path = format!("/v1/sessions/talk/end?user=j{user}");
                    let _ = fleet.client(server).post(&path, None, &json!({}));
                }
            });
        }
    });
    let mut faults = Vec::new();
    for user in 0..SESSIONS {
        faults.extend(check_capture(&mut fleet.client(user), user)?);
    }
    Ok(faults)
}

/// Returns what is wrong with the capture of a session: its memory must be there, with one line in the journal.
fn check_capture(client: &mut ClusterClient, user: usize) -> Result<Option<String>> {
    let began = Instant::now();
    loop {
        let history = client.get(&format!("/v1/history?user=j{user}&limit=100"))?.body;
        let lines = history["changes"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        // One of the turn, and at least one of a memory that was drawn from it.
        let is_captured = lines.len() > 1;
        if !is_captured && began.elapsed() < CAPTURED_WITHIN {
            thread::sleep(PROBE_PAUSE);
            continue;
        }
        let mut ids: Vec<&str> = lines.iter().filter_map(|line| line["id"].as_str()).collect();
        ids.sort_unstable();
        let is_once = ids.windows(2).all(|pair| pair[0] != pair[1]);
        return Ok(match (is_captured, is_once) {
            (true, true) => None,
            (false, _) => Some(format!("session of j{user} was not captured: {history}")),
            (true, false) => Some(format!("session of j{user} was captured twice: {history}")),
        });
    }
}
