//! MariaDB as people use it without Everlore: one table, a full-text index, and a filter by scope.

use anyhow::{Context, Result};
use mysql_async::{Conn, Opts, OptsBuilder, Row, params, prelude::Queryable};
use tokio::runtime::Runtime;

use super::{
    database_server::DatabaseServer,
    subject::{LIMIT, ScaleSubject},
};
use crate::corpus::{Corpus, GeneratedMemory};

/// Table on a server of its own.
pub(super) struct MariaDbRival {
    connection: Option<Conn>,
    server: DatabaseServer,
    runtime: Runtime,
}

impl MariaDbRival {
    pub(super) fn new() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let server = DatabaseServer::start_mariadb(&runtime);
        let mut connection = runtime.block_on(connect(&server.url()))?;
        runtime.block_on(connection.query_drop("CREATE DATABASE rival CHARACTER SET utf8mb4"))?;
        runtime.block_on(connection.query_drop(
            "CREATE TABLE rival.memories (id bigint AUTO_INCREMENT PRIMARY KEY, agent varchar(100) NOT NULL,
             person varchar(100) NOT NULL, content text NOT NULL, KEY (agent, person))",
        ))?;
        Ok(Self { connection: Some(connection), server, runtime })
    }
}

impl ScaleSubject for MariaDbRival {
    fn load(&mut self, batch: &[GeneratedMemory]) -> Result<()> {
        let rows = vec!["(?, ?, ?)"; batch.len()].join(", ");
        let insert = format!("INSERT INTO rival.memories (agent, person, content) VALUES {rows}");
        let values: Vec<String> = batch
            .iter()
            .flat_map(|memory| {
                let (agent, user) = Corpus::owner(memory.scope);
                [agent, user, memory.text.clone()]
            })
            .collect();
        let connection = self.connection.as_mut().context("the connection is closed")?;
        self.runtime.block_on(connection.exec_drop(insert, values))?;
        Ok(())
    }

    fn finish_loading(&mut self) -> Result<()> {
        let connection = self.connection.as_mut().context("the connection is closed")?;
        let index = "ALTER TABLE rival.memories ADD FULLTEXT (content)";
        self.runtime.block_on(connection.query_drop(index))?;
        Ok(())
    }

    fn save_one(&mut self, memory: &GeneratedMemory) -> Result<()> {
        self.load(std::slice::from_ref(memory))
    }

    fn query(&mut self, scope: u32, text: &str) -> Result<usize> {
        let (agent, user) = Corpus::owner(scope);
        let statement = format!(
            "SELECT id, content FROM rival.memories WHERE agent = :agent AND person = :user
             AND MATCH (content) AGAINST (:text) ORDER BY MATCH (content) AGAINST (:text) DESC LIMIT {LIMIT}"
        );
        let connection = self.connection.as_mut().context("the connection is closed")?;
        let values = params! { agent, user, text };
        let rows: Vec<Row> = self.runtime.block_on(connection.exec(statement, values))?;
        Ok(rows.len())
    }

    fn reopen(&mut self) -> Result<()> {
        self.connection = None;
        self.connection = Some(self.runtime.block_on(connect(&self.server.url()))?);
        Ok(())
    }

    fn bytes(&self) -> Result<i64> {
        self.server.bytes(&self.runtime)
    }
}

async fn connect(url: &str) -> Result<Conn> {
    // The client would change to the socket of the server, which lets only its own account in.
    let options = OptsBuilder::from_opts(Opts::from_url(url)?).prefer_socket(false);
    Ok(Conn::new(options).await?)
}
