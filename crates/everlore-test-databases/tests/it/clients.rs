//! Clients that write numbered rows and note which were acknowledged.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use mysql_async::{Conn, Opts, OptsBuilder, prelude::Queryable};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Error, NoTls};

/// Rows of one client: `(client, 0)` to `(client, written - 1)` were acknowledged.
#[derive(Clone, Default)]
pub(crate) struct AcknowledgedRows {
    written: Arc<AtomicU32>,
    is_stopped: Arc<AtomicBool>,
}

impl AcknowledgedRows {
    pub(crate) fn count(&self) -> u32 {
        self.written.load(Ordering::SeqCst)
    }

    /// Ends the client after the row that it writes now.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
    }

    /// Waits until this many rows are acknowledged.
    pub(crate) async fn reach(&self, count: u32) {
        while self.count() < count {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    fn next(&self) -> Option<u32> {
        (!self.is_stopped.load(Ordering::SeqCst)).then(|| self.count())
    }

    fn acknowledge(&self) {
        self.written.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) async fn connect_postgres(url: &str) -> Result<Client, Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Writes rows until the server is gone.
pub(crate) fn write_to_postgres(url: String, client: usize) -> (AcknowledgedRows, JoinHandle<()>) {
    let rows = AcknowledgedRows::default();
    let written = rows.clone();
    let task = tokio::spawn(async move {
        let connection = connect_postgres(&url).await.unwrap();
        while let Some(row) = written.next() {
            let insert = format!("INSERT INTO written VALUES ({client}, {row})");
            if connection.batch_execute(&insert).await.is_err() {
                return;
            }
            written.acknowledge();
        }
    });
    (rows, task)
}

/// Writes rows until the server is gone or the rows are stopped; a conflict between nodes is tried again.
pub(crate) fn write_to_mariadb(url: String, client: usize) -> (AcknowledgedRows, JoinHandle<()>) {
    let rows = AcknowledgedRows::default();
    let written = rows.clone();
    let task = tokio::spawn(async move {
        // Over TCP: the socket lets only the account of the server in.
        let opts = OptsBuilder::from_opts(Opts::from_url(&url).unwrap()).prefer_socket(false);
        let mut connection = Conn::new(opts).await.unwrap();
        while let Some(row) = written.next() {
            // A row of an attempt without an answer may be there.
            let insert = format!("INSERT IGNORE INTO everlore.written VALUES ({client}, {row})");
            match connection.query_drop(insert).await {
                Ok(()) => written.acknowledge(),
                Err(error) if error.is_fatal() => return,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    });
    (rows, task)
}
