//! Vectors of all scopes in one table of PostgreSQL with one HNSW index of pgvector, filtered by scope.

use anyhow::{Context, Result};
use tokio_postgres::{
    Client, Config, NoTls,
    types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked},
};

/// Connection to the table.
pub(crate) struct HnswTable {
    client: Client,
}

/// Vector in the binary form of pgvector.
#[derive(Debug)]
pub(crate) struct PgVector<'a>(pub(crate) &'a [f32]);

impl HnswTable {
    /// Creates the table for vectors of this many dimensions, half a float each: the smallest form that pgvector has an
    /// HNSW index for, but for single bits.
    pub(crate) async fn create(url: &str, dimensions: usize) -> Result<Self> {
        let (client, connection) = url.parse::<Config>()?.connect(NoTls).await?;
        tokio::spawn(connection);
        let table = format!(
            "CREATE EXTENSION IF NOT EXISTS vector;
             CREATE TABLE nearest (scope int NOT NULL, number int NOT NULL, meaning halfvec({dimensions}) NOT NULL,
             PRIMARY KEY (scope, number));
             ALTER TABLE nearest ALTER meaning SET STORAGE PLAIN;
             SET hnsw.iterative_scan = strict_order"
        );
        client.batch_execute(&table).await?;
        Ok(Self { client })
    }

    /// Adds vectors of a scope, numbered from `first`.
    pub(crate) async fn insert(&self, scope: i32, first: i32, vectors: &[Vec<f32>]) -> Result<()> {
        let statement =
            "INSERT INTO nearest SELECT $1::int, $2::int + place::int - 1, meaning::halfvec
             FROM unnest($3::vector[]) WITH ORDINALITY AS new (meaning, place)";
        let vectors: Vec<PgVector<'_>> = vectors.iter().map(|vector| PgVector(vector)).collect();
        self.client.execute(statement, &[&scope, &first, &vectors]).await?;
        Ok(())
    }

    /// Builds the index with the settings that pgvector has by itself.
    pub(crate) async fn build_index(&self) -> Result<()> {
        let index =
            "CREATE INDEX nearest_meaning ON nearest USING hnsw (meaning halfvec_cosine_ops)";
        self.client.batch_execute(index).await?;
        self.client.batch_execute("ANALYZE nearest").await?;
        Ok(())
    }

    /// Sets how many neighbours a search keeps in sight.
    pub(crate) async fn set_breadth(&self, breadth: u32) -> Result<()> {
        self.client.batch_execute(&format!("SET hnsw.ef_search = {breadth}")).await?;
        Ok(())
    }

    /// Returns the numbers of the nearest vectors of a scope.
    pub(crate) async fn nearest(
        &self,
        scope: i32,
        query: &[f32],
        limit: usize,
    ) -> Result<Vec<i32>> {
        let statement = "SELECT number FROM nearest WHERE scope = $1 ORDER BY meaning <=> $2::vector::halfvec LIMIT $3";
        let values: [&(dyn ToSql + Sync); 3] = [&scope, &PgVector(query), &(limit as i64)];
        let rows = self.client.query(statement, &values).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Returns `true` if the database searches a scope by the index and not by sorting all of its vectors.
    pub(crate) async fn uses_index(&self, scope: i32, query: &[f32], limit: usize) -> Result<bool> {
        let statement = format!(
            "EXPLAIN SELECT number FROM nearest WHERE scope = {scope} ORDER BY meaning <=> '{query:?}' LIMIT {limit}"
        );
        let lines = self.client.query(&statement, &[]).await?;
        Ok(lines.iter().any(|line| line.get::<_, String>(0).contains("nearest_meaning")))
    }

    /// Returns the bytes of a relation of the database with what belongs to it.
    pub(crate) async fn relation_bytes(&self, name: &str) -> Result<i64> {
        let statement = "SELECT pg_total_relation_size($1::text::regclass)";
        let row = self.client.query_one(statement, &[&name]).await;
        Ok(row.context("the size of a relation")?.get(0))
    }
}

impl ToSql for PgVector<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(&u16::try_from(self.0.len())?.to_be_bytes());
        out.extend_from_slice(&[0; 2]);
        for number in self.0 {
            out.extend_from_slice(&number.to_be_bytes());
        }
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        kind.name() == "vector"
    }

    to_sql_checked!();
}
