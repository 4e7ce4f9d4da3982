//! Erased texts: no trace in tables, indexes and files of a database once it was rebuilt as docs/databases.md says.

use std::{path::Path, process::Command};

use super::{TestMariaDb, TestPostgres, run_shell, shell};
use crate::home::TestHome;

/// Word that no other text has.
const WORD: &str = "xyzzyplughquux";

/// Stores a text, changes it, recalls it and returns its id.
fn store_word(home: &TestHome) -> String {
    let id = home.remember(&format!("The word of the day is {WORD}."));
    let other = format!("The words of the week are {WORD} and tea.");
    home.json(&["memory", "edit", &id, "--content", &other]);
    assert!(home.recall("What are the words of the week?")[0].contains(WORD));
    home.remember("The user drinks oolong.");
    id
}

fn forget(home: &TestHome, id: &str) {
    home.json(&["memory", "forget", id, "--yes"]);
    assert_eq!(home.recall("What are the words of the week?"), Vec::<String>::new());
}

/// Returns the files below a folder that have the word, by their names within it.
fn files_with_word(folder: &Path) -> Vec<String> {
    let mut grep = Command::new("grep");
    let output = grep.args(["-rlaF", WORD, "."]).current_dir(folder).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Fails if a dump of the tables has the word, as text or as the bytes of a column.
fn assert_not_in_dump(dump: &[u8]) {
    let dump = String::from_utf8_lossy(dump).to_lowercase();
    let digits: String = WORD.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert!(dump.contains("oolong") && !dump.contains(WORD) && !dump.contains(&digits));
}

#[test]
fn postgresql_keeps_no_trace_of_an_erased_text_but_in_its_log() {
    let postgres = TestPostgres::start();
    let home = postgres.home();
    let id = store_word(&home);
    let run = |statement: &str| postgres.runtime.block_on(postgres.server.query(statement));
    run("CHECKPOINT");
    let folder = postgres.server.data_folder();
    assert!(files_with_word(&folder).iter().any(|file| file.starts_with("./base/")));
    forget(&home, &id);
    let dump = shell(home.path().parent().unwrap(), &format!("pg_dump {}", postgres.url()));
    assert_not_in_dump(&run_shell(dump));
    run("VACUUM FULL");
    run("CHECKPOINT");
    let left = files_with_word(&folder);
    assert!(left.iter().all(|file| file.starts_with("./pg_wal/")), "{left:?}");
    home.assert_healthy();
}

/// Statement that lists the statements which rebuild all tables.
const REBUILD: &str = "SELECT group_concat('OPTIMIZE TABLE ', table_name SEPARATOR ';') \
    FROM information_schema.tables WHERE table_schema = DATABASE()";

#[test]
fn mariadb_keeps_no_trace_of_an_erased_text_but_in_its_logs() {
    let mut mariadb = TestMariaDb::start();
    let home = super::home_on(&mariadb.url("everlore"));
    let id = store_word(&home);
    let folder = mariadb.server.data_folder();
    // A server that ends writes all its pages.
    mariadb.runtime.block_on(mariadb.server.restart());
    assert!(files_with_word(&folder).iter().any(|file| file.starts_with("./everlore/")));
    forget(&home, &id);
    let parent = home.path().parent().unwrap().to_owned();
    let client = client_options(&mariadb);
    let dump = shell(&parent, &format!("mariadb-dump {client} --hex-blob everlore"));
    assert_not_in_dump(&run_shell(dump));
    let rebuild =
        format!("mariadb {client} -Ne \"{REBUILD}\" everlore | mariadb {client} everlore");
    run_shell(shell(&parent, &rebuild));
    mariadb.runtime.block_on(mariadb.server.restart());
    let left = files_with_word(&folder);
    // The redo log, and in `ibdata1` the undo log and the doublewrite buffer.
    let is_log = |file: &String| file.starts_with("./ib_logfile") || file == "./ibdata1";
    assert!(left.iter().all(is_log), "{left:?}");
    home.assert_healthy();
}

/// Returns the options that a program of MariaDB needs for a test's server.
pub(super) fn client_options(mariadb: &TestMariaDb) -> String {
    let url = mariadb.url("everlore");
    let (login, _) = url.split_once("://").unwrap().1.split_once('@').unwrap();
    let (user, password) = login.split_once(':').unwrap();
    let port = mariadb.server.address().port();
    format!("--no-defaults --protocol=tcp -h 127.0.0.1 -P {port} -u {user} -p{password}")
}
