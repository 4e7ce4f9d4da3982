//! The journal facet. A line stores the memory before its change; the memory after it is the one before the next line
//! of the same memory, or its row.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;

use super::{
    ServerStore,
    database::{number, rows as result_rows},
    rows,
    scope_row::ScopeKey,
    sql::{SqlRow, SqlValue, Statement, list, sql},
    transaction::RetryRule,
};
use crate::{
    error::Result,
    store::{
        Journal, JournalQuery,
        row::{ACTORS, OPS, by_number, decode_image, timestamp},
    },
    types::{JournalEntry, Memory, MemoryId, Scope, Timestamp},
};

const SELECT: &str =
    "SELECT seq, id, op, at, actor, reason, run, cost, image FROM journal WHERE scope = ?";

#[async_trait]
impl Journal for ServerStore {
    async fn entries(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<JournalEntry>> {
        self.db
            .retried(RetryRule::Idempotent, || async {
                let key = ScopeKey::of(scope);
                let mut tx = self.db.snapshot().await?;
                let [lines] = result_rows(tx.run(vec![select_lines(key, query)]).await?)?;
                let lines = lines.into_iter().map(read_line).collect::<Result<Vec<_>>>()?;
                let Some(oldest) = lines.iter().map(|line| line.seq).min() else {
                    tx.finish();
                    return Ok(lines);
                };
                let [later, stored] =
                    result_rows(tx.commit(select_after(key, &lines, oldest)).await?)?;
                let stored = rows::read_memories(stored, scope)?;
                let images = JournalImages::new(later, stored)?;
                Ok(lines.into_iter().map(|line| images.complete(line)).collect())
            })
            .await
    }

    async fn newest_seq(&self, scope: &Scope) -> Result<u64> {
        let text = "SELECT changes FROM scopes WHERE scope = ?";
        let newest = number(self.db.read_one(sql!(text, ScopeKey::of(scope))).await?)?;
        Ok(u64::try_from(newest).unwrap_or(0))
    }

    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>> {
        let key = ScopeKey::of(scope);
        let later = "SELECT id, image FROM journal WHERE scope = ? AND at > ? ORDER BY seq DESC";
        let stored = rows::select(key, "ORDER BY address", Vec::new());
        let [stored, later] = self.db.read([stored, sql!(later, key, at)]).await?;
        let stored = rows::read_memories(stored, scope)?;
        let mut memories: BTreeMap<MemoryId, Memory> =
            stored.into_iter().map(|memory| (memory.id, memory)).collect();
        for mut row in later {
            let id = row.memory_id(0)?;
            match decode_image(row.opt_bytes(1)?)? {
                Some(before) => memories.insert(id, before),
                None => memories.remove(&id),
            };
        }
        Ok(memories.into_values().collect())
    }
}

/// Creates the query for the lines that are selected, newest first.
fn select_lines(key: ScopeKey, query: &JournalQuery) -> Statement {
    let number = |value: u64| SqlValue::Int(i64::try_from(value).unwrap_or(i64::MAX));
    let conditions = [
        ("AND id = ?", query.id.map(SqlValue::from)),
        ("AND run = ?", query.run.as_ref().map(SqlValue::from)),
        ("AND seq = ?", query.seq.map(number)),
        ("AND seq < ?", query.before.map(number)),
    ];
    let (mut text, mut params) = (SELECT.to_owned(), vec![SqlValue::from(key)]);
    for (condition, value) in conditions {
        if let Some(value) = value {
            text.push_str(&format!(" {condition}"));
            params.push(value);
        }
    }
    text.push_str(" ORDER BY seq DESC LIMIT ?");
    params.push(rows::limit_value(query.limit.unwrap_or(usize::MAX)));
    Statement::Plain { text: text.into(), params }
}

/// Creates the queries for what the memories of these lines were after them.
fn select_after(key: ScopeKey, lines: &[JournalEntry], oldest: u64) -> Vec<Statement> {
    let ids: BTreeSet<MemoryId> = lines.iter().map(|line| line.id).collect();
    let later = "SELECT id, seq, image FROM journal WHERE scope = ? AND id IN ? AND seq > ?";
    vec![sql!(later, key, list(ids.iter().copied()), oldest), rows::by_ids(key, ids)]
}

/// Memories before each of their lines, and as they are now.
struct JournalImages {
    before: HashMap<MemoryId, BTreeMap<u64, Option<Memory>>>,
    now: HashMap<MemoryId, Memory>,
}

impl JournalImages {
    fn new(later: Vec<SqlRow>, stored: Vec<Memory>) -> Result<Self> {
        let mut before: HashMap<MemoryId, BTreeMap<u64, Option<Memory>>> = HashMap::new();
        for mut row in later {
            let (id, seq) = (row.memory_id(0)?, row.int(1)?);
            before.entry(id).or_default().insert(seq, decode_image(row.opt_bytes(2)?)?);
        }
        let now = stored.into_iter().map(|memory| (memory.id, memory)).collect();
        Ok(Self { before, now })
    }

    /// Returns a line with the memory after it.
    fn complete(&self, line: JournalEntry) -> JournalEntry {
        let after = self.after(&line).cloned().map(Box::new);
        JournalEntry { after, ..line }
    }

    fn after(&self, line: &JournalEntry) -> Option<&Memory> {
        let next = self.before.get(&line.id).and_then(|it| it.range(line.seq + 1..).next());
        match next {
            Some((_, before)) => before.as_ref(),
            None => self.now.get(&line.id),
        }
    }
}

/// Decodes a line, still without the memory after it.
fn read_line(mut row: SqlRow) -> Result<JournalEntry> {
    Ok(JournalEntry {
        seq: row.int(0)?,
        id: row.memory_id(1)?,
        op: by_number(&OPS, row.int(2)?, "journal operation")?,
        at: timestamp(row.int(3)?)?,
        actor: by_number(&ACTORS, row.int(4)?, "actor")?,
        cause: row.text(5)?,
        run: row.opt_text(6)?,
        cost: row.int(7)?,
        before: decode_image(row.opt_bytes(8)?)?.map(Box::new),
        after: None,
    })
}
