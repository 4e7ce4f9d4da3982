//! PostgreSQL as people use it without Everlore: one table, full-text search or pgvector, and a filter by scope.

use anyhow::Result;
use everlore::llm::{BuiltinEmbedder, Embedder};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

use super::{
    database_server::DatabaseServer,
    subject::{LIMIT, ScaleSubject},
};
use crate::corpus::{Corpus, GeneratedMemory};

/// Index that finds memories.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RivalSearch {
    FullText,
    Vectors,
}

/// Table on a server of its own.
pub(super) struct PostgresRival {
    search: RivalSearch,
    client: Option<Client>,
    embedder: BuiltinEmbedder,
    server: DatabaseServer,
    runtime: Runtime,
}

impl PostgresRival {
    pub(super) fn new(search: RivalSearch) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let server = DatabaseServer::start_postgres(&runtime);
        let embedder = BuiltinEmbedder::new();
        let client = runtime.block_on(connect(&server.url()))?;
        let column = match search {
            RivalSearch::FullText => {
                "words tsvector GENERATED ALWAYS AS (to_tsvector('simple', content)) STORED"
                    .to_owned()
            }
            RivalSearch::Vectors => format!("meaning vector({})", embedder.model().dimensions),
        };
        let table = format!(
            "CREATE EXTENSION IF NOT EXISTS vector;
             CREATE TABLE memories (id bigserial PRIMARY KEY, owner text NOT NULL, content text NOT NULL, {column});
             CREATE INDEX ON memories (owner)"
        );
        runtime.block_on(client.batch_execute(&table))?;
        Ok(Self { search, client: Some(client), embedder, server, runtime })
    }

    fn client(&self) -> Result<&Client> {
        self.client.as_ref().ok_or_else(|| anyhow::anyhow!("the connection is closed"))
    }

    /// Embeds texts, each in the form that pgvector reads.
    fn vectors(&self, texts: &[&str]) -> Result<Vec<String>> {
        let vectors = self.runtime.block_on(self.embedder.embed(texts))?;
        Ok(vectors.iter().map(|vector| format!("{vector:?}")).collect())
    }

    fn insert(&self, batch: &[GeneratedMemory]) -> Result<()> {
        let owners: Vec<String> = batch.iter().map(|memory| owner(memory.scope)).collect();
        let texts: Vec<&str> = batch.iter().map(|memory| memory.text.as_str()).collect();
        let client = self.client()?;
        let inserted = match self.search {
            RivalSearch::FullText => self.runtime.block_on(client.execute(
                "INSERT INTO memories (owner, content) SELECT * FROM unnest($1::text[], $2::text[])",
                &[&owners, &texts],
            )),
            RivalSearch::Vectors => {
                let vectors = self.vectors(&texts)?;
                let statement = "INSERT INTO memories (owner, content, meaning) SELECT owner, content, meaning::vector
                     FROM unnest($1::text[], $2::text[], $3::text[]) AS new (owner, content, meaning)";
                self.runtime.block_on(client.execute(statement, &[&owners, &texts, &vectors]))
            }
        };
        inserted?;
        Ok(())
    }
}

impl ScaleSubject for PostgresRival {
    fn load(&mut self, batch: &[GeneratedMemory]) -> Result<()> {
        self.insert(batch)
    }

    fn finish_loading(&mut self) -> Result<()> {
        let index = match self.search {
            RivalSearch::FullText => "CREATE INDEX ON memories USING gin (words)",
            RivalSearch::Vectors => {
                "CREATE INDEX ON memories USING hnsw (meaning vector_cosine_ops)"
            }
        };
        let client = self.client()?;
        self.runtime.block_on(client.batch_execute(index))?;
        self.runtime.block_on(client.batch_execute("ANALYZE memories"))?;
        Ok(())
    }

    fn save_one(&mut self, memory: &GeneratedMemory) -> Result<()> {
        self.insert(std::slice::from_ref(memory))
    }

    fn query(&mut self, scope: u32, text: &str) -> Result<usize> {
        let (client, owner, limit) = (self.client()?, owner(scope), LIMIT as i64);
        let rows = match self.search {
            RivalSearch::FullText => {
                let words = text.split_whitespace().collect::<Vec<_>>().join(" or ");
                let statement = "SELECT id, content FROM memories, websearch_to_tsquery('simple', $2) AS asked
                     WHERE owner = $1 AND words @@ asked ORDER BY ts_rank(words, asked) DESC LIMIT $3";
                self.runtime.block_on(client.query(statement, &[&owner, &words, &limit]))?
            }
            RivalSearch::Vectors => {
                let vector = self.vectors(&[text])?.remove(0);
                let statement = "SELECT id, content FROM memories WHERE owner = $1
                     ORDER BY meaning <=> $2::text::vector LIMIT $3";
                self.runtime.block_on(client.query(statement, &[&owner, &vector, &limit]))?
            }
        };
        Ok(rows.len())
    }

    fn reopen(&mut self) -> Result<()> {
        self.client = None;
        self.client = Some(self.runtime.block_on(connect(&self.server.url()))?);
        Ok(())
    }

    fn bytes(&self) -> Result<i64> {
        self.server.bytes(&self.runtime)
    }
}

fn owner(scope: u32) -> String {
    let (agent, user) = Corpus::owner(scope);
    format!("{agent}/{user}")
}

/// Connects, and lets pgvector search on until the filter has passed enough memories.
async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    let has_vectors = "SELECT FROM pg_extension WHERE extname = 'vector'";
    if client.query_opt(has_vectors, &[]).await?.is_some() {
        client.batch_execute("SET hnsw.iterative_scan = relaxed_order").await?;
    }
    Ok(client)
}
