//! Backups that are taken while a server writes: what they restore is whole, and has every write acknowledged before.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::json;

use super::{
    TestMariaDb, TestPostgres, erasure::client_options, home_on, run_shell, shell, wait_for,
};
use crate::{home::TestHome, serve::TestServer};

/// Clients that write while a backup is taken.
const CLIENTS: usize = 4;

/// Writes before a backup begins.
const WRITES_BEFORE: usize = 20;

/// Writes through a server while `back_up` runs; returns the texts that were acknowledged before it began.
fn write_during(home: &TestHome, back_up: impl FnOnce()) -> Vec<String> {
    let server = TestServer::start(home, &[]);
    let (written, is_over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (server, written, is_over) = (&server, &written, &is_over);
            scope.spawn(move || {
                for number in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let text = format!("Box {client}z{number} holds the {number}th lamp.");
                    let body = json!({ "content": text });
                    server.request("POST", "/v1/memories", Some(body)).json(201);
                    written.lock().unwrap().push(text);
                }
            });
        }
        let count = || written.lock().unwrap().len();
        wait_for("writes", || count() >= WRITES_BEFORE);
        let before = written.lock().unwrap().clone();
        back_up();
        let during = count();
        wait_for("a write after the backup", || count() > during);
        is_over.store(true, Ordering::Relaxed);
        before
    })
}

/// Fails unless a home is whole and has all these texts.
fn assert_restored(home: &TestHome, texts: &[String]) {
    home.assert_healthy();
    let exported = home.run(&["memory", "export"]).out;
    for text in texts {
        assert_eq!(exported.matches(text).count(), 1, "{text}");
    }
    home.remember("The user restored a backup.");
}

#[test]
fn a_dump_of_postgresql_under_load_restores_everything() {
    let postgres = TestPostgres::start();
    let home = postgres.home();
    let (folder, url) = (home.path().parent().unwrap().to_owned(), postgres.url());
    let restored = url.replace("/postgres", "/restored");
    let written = write_during(&home, || {
        let dump = format!("pg_dump --format=custom --file=everlore.dump '{url}'");
        run_shell(shell(&folder, &dump));
    });
    let restore = format!(
        "createdb --maintenance-db='{url}' restored && \
         pg_restore --no-owner --exit-on-error --dbname='{restored}' everlore.dump"
    );
    run_shell(shell(&folder, &restore));
    assert_restored(&home_on(&restored), &written);
}

#[test]
fn a_dump_of_mariadb_under_load_restores_everything() {
    let mariadb = TestMariaDb::start();
    let home = home_on(&mariadb.url("everlore"));
    let (folder, client) = (home.path().parent().unwrap().to_owned(), client_options(&mariadb));
    let written = write_during(&home, || {
        let dump = format!(
            "mariadb-dump {client} --single-transaction --hex-blob everlore > everlore.sql"
        );
        run_shell(shell(&folder, &dump));
    });
    mariadb.query("CREATE DATABASE restored CHARACTER SET utf8mb4");
    run_shell(shell(&folder, &format!("mariadb {client} restored < everlore.sql")));
    assert_restored(&home_on(&mariadb.url("restored")), &written);
}

#[test]
fn a_copy_of_a_sqlite_file_under_load_restores_everything() {
    let home = TestHome::new();
    let copy = home.sibling("copy.db");
    let written = write_during(&home, || {
        // The command `sqlite3 everlore.db "VACUUM INTO 'copy.db'"` does the same.
        let database = rusqlite::Connection::open(home.path().join("everlore.db")).unwrap();
        database.execute("VACUUM INTO ?", [copy.to_str().unwrap()]).unwrap();
    });
    assert_restored(&home_on(&format!("sqlite:{}", copy.display())), &written);
}
