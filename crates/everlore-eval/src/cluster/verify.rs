//! The look for every write at the end: each acknowledged one is there exactly once, and so is its index entry.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::{
    ClusterOptions,
    client::ClusterClient,
    fleet::ServerFleet,
    writers::{USERS, WriteKind, WriteLog},
};

/// Largest page of a list.
const PAGE: usize = 1_000;

/// Stored ids of each text of a user.
type StoredTexts = BTreeMap<(WriteKind, String), Vec<String>>;

/// Returns a line for every write that is missing, doubled or changed, through each server, and for every scope whose rows,
/// index and journal do not agree.
pub(super) fn find_faults(
    options: &ClusterOptions,
    fleet: &ServerFleet,
    log: &WriteLog,
) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for server in 0..fleet.access().len() {
        let mut client = fleet.client(server);
        let mut stored = Vec::new();
        for user in 0..USERS {
            stored.push(stored_texts(&mut client, user)?);
        }
        faults.extend(compare(log, &stored).into_iter().map(|it| format!("server {server}: {it}")));
    }
    faults.extend(fleet.diagnose(&options.binary)?);
    Ok(faults)
}

fn compare(log: &WriteLog, stored: &[StoredTexts]) -> Vec<String> {
    let mut faults = Vec::new();
    for write in &log.acknowledged {
        let ids = stored[write.user].get(&(write.kind, write.text.clone()));
        let ids: &[String] = ids.map_or(&[], Vec::as_slice);
        if ids != [write.id.clone()] {
            faults.push(format!("{} is stored as {ids:?}: {}", write.id, write.text));
        }
    }
    for (user, kind, text) in &log.uncertain {
        let ids = stored[*user].get(&(*kind, text.clone())).map_or(0, Vec::len);
        if ids > 1 {
            faults.push(format!("stored {ids} times: {text}"));
        }
    }
    let known = log.acknowledged.len() + log.uncertain.len();
    let total: usize = stored.iter().flat_map(BTreeMap::values).map(Vec::len).sum();
    if total > known {
        faults.push(format!("{known} writes were sent and {total} are stored"));
    }
    faults
}

fn stored_texts(client: &mut ClusterClient, user: usize) -> Result<StoredTexts> {
    let mut stored = StoredTexts::new();
    let mut after = String::new();
    loop {
        let answer = client.get(&format!("/v1/memories?user=u{user}&limit={PAGE}{after}"))?;
        ensure!(answer.is_success(), "a list fails: {answer:?}");
        for memory in answer.body["memories"].as_array().into_iter().flatten() {
            let is_turn = memory["kind"] == "turn";
            let kind = if is_turn { WriteKind::Turn } else { WriteKind::Memory };
            let text = memory["content"].as_str().unwrap_or_default().to_owned();
            let id = memory["id"].as_str().unwrap_or_default().to_owned();
            stored.entry((kind, text)).or_default().push(id);
        }
        match answer.body["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return Ok(stored),
        }
    }
}
