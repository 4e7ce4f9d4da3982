//! `compose.yaml` and `Dockerfile` fit each other, the toolchain and the command line. Docker itself is not needed.

use std::collections::BTreeSet;

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

use crate::{
    home::TestHome,
    readme::{read_page, root},
};

/// Name of the image that compose builds.
const IMAGE: &str = "everlore:local";

#[test]
fn the_command_line_has_every_option_and_variable_of_compose() {
    let compose = read_yaml("compose.yaml");
    let servers = servers(&compose);
    assert_eq!(servers.len(), 2);
    let help = help(&["serve"]);
    for server in servers {
        help_of_command(&strings(&server["command"]));
        for variable in server["environment"].as_object().unwrap().keys() {
            let is_known = help.contains(&format!("[env: {variable}]"));
            assert!(is_known, "{variable}");
        }
    }
}

#[test]
fn the_command_line_has_every_option_and_variable_of_the_image() {
    let help = help(&["serve"]);
    let image = Dockerfile::read();
    let command: Vec<String> = serde_json::from_str(&image.last("CMD")).unwrap();
    help_of_command(&command);
    assert_eq!(image.last("ENTRYPOINT"), r#"["everlore"]"#);
    for (variable, _) in image.variables("EVERLORE_") {
        assert!(help.contains(&format!("[env: {variable}]")), "{variable}");
    }
}

#[test]
fn the_image_builds_what_the_workspace_has() {
    let image = Dockerfile::read();
    let toolchain: toml::Table = read_page("rust-toolchain.toml").parse().unwrap();
    let version = toolchain["toolchain"]["channel"].as_str().unwrap();
    assert!(image.all("FROM")[0].starts_with(&format!("rust:{version}-")), "{version}");
    assert_eq!(image.variables("RUSTUP_"), [("RUSTUP_TOOLCHAIN".to_owned(), version.to_owned())]);
    let manifest: toml::Table = read_page("Cargo.toml").parse().unwrap();
    assert!(manifest["profile"].get("dist").is_some());
    let build = &image.all("RUN")[0];
    for part in ["--locked", "--profile dist", "-p everlore-cli", "target/dist/everlore"] {
        assert!(build.contains(part), "{part} in {build}");
    }
    // A binary may not run on an older system than the one that linked it.
    assert!(image.all("FROM").iter().all(|from| from.contains("bookworm")));
}

#[test]
fn servers_of_compose_share_the_database_and_nothing_else() {
    let compose = read_yaml("compose.yaml");
    let image = Dockerfile::read();
    let home = image.variables("EVERLORE_HOME").remove(0).1;
    assert_eq!(image.last("VOLUME"), home);
    let (mut ports, mut homes, mut stores) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for server in servers(&compose) {
        let command = strings(&server["command"]);
        let listens = &command[command.iter().position(|option| option == "--port").unwrap() + 1];
        assert_eq!(listens, &image.last("EXPOSE"));
        let port = strings(&server["ports"]).remove(0);
        // Docker opens ports to other machines unless told otherwise.
        assert!(port.starts_with("127.0.0.1:") && port.ends_with(&format!(":{listens}")), "{port}");
        assert!(ports.insert(port));
        let volume = strings(&server["volumes"]).remove(0);
        assert_eq!(volume.split_once(':').unwrap().1, home);
        assert!(homes.insert(volume));
        stores.insert(server["environment"]["EVERLORE_STORE"].as_str().unwrap().to_owned());
    }
    assert_eq!(stores.len(), 1);
    let database = &compose["services"]["database"]["environment"];
    let account = ["POSTGRES_USER", "POSTGRES_DB"].map(|name| database[name].as_str().unwrap());
    let store = stores.pop_first().unwrap();
    assert!(store.starts_with(&format!("postgres://{}:", account[0])), "{store}");
    assert!(store.ends_with(&format!("@database:5432/{}", account[1])), "{store}");
}

#[test]
fn every_service_and_volume_that_compose_names_is_defined() {
    let compose = read_yaml("compose.yaml");
    let (services, volumes) = (&compose["services"], &compose["volumes"]);
    for (name, service) in services.as_object().unwrap() {
        for volume in strings(&service["volumes"]) {
            assert!(volumes.get(volume.split(':').next().unwrap()).is_some(), "{name}: {volume}");
        }
        for needed in service["depends_on"].as_object().unwrap_or(&Map::new()).keys() {
            assert!(services.get(needed).is_some(), "{name}: {needed}");
        }
        let builds = service["build"].as_str();
        assert!(builds.is_none_or(|folder| root().join(folder).join("Dockerfile").exists()));
    }
}

/// Returns the services that run our image.
fn servers(compose: &Value) -> Vec<&Value> {
    let services = compose["services"].as_object().unwrap().values();
    services.filter(|service| service["image"] == IMAGE).collect()
}

fn help_of_command(command: &[String]) {
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    help(&command);
}

/// Returns the help of a command; its options must exist.
fn help(command: &[&str]) -> String {
    let output = TestHome::new().run(&[command, &["--help"]].concat());
    assert_eq!(output.code, 0, "{command:?}: {}", output.err);
    output.out
}

fn strings(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// Instructions of the Dockerfile, without comments, each on one line.
struct Dockerfile {
    instructions: Vec<(String, String)>,
}

impl Dockerfile {
    fn read() -> Self {
        let text = read_page("Dockerfile");
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let joined = lines.join("\n").replace("\\\n", " ");
        let instructions = joined.lines().filter_map(|line| line.split_once(' '));
        let instructions = instructions.map(|(name, rest)| (name.to_owned(), rest.to_owned()));
        Self { instructions: instructions.collect() }
    }

    fn all(&self, name: &str) -> Vec<String> {
        let named = self.instructions.iter().filter(|(found, _)| found == name);
        named.map(|(_, rest)| rest.clone()).collect()
    }

    fn last(&self, name: &str) -> String {
        self.all(name).pop().unwrap()
    }

    /// Returns the environment variables that begin so.
    fn variables(&self, start: &str) -> Vec<(String, String)> {
        let all = self.all("ENV");
        let pairs = all.iter().map(|pair| pair.split_once('=').unwrap());
        let wanted = pairs.filter(|(name, _)| name.starts_with(start));
        wanted.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// Reads a file of YAML without anchors; every scalar is a text.
fn read_yaml(path: &str) -> Value {
    let text = read_page(path);
    let mut events = Parser::new_from_str(&text).map(|event| event.unwrap().0);
    let start = events.find(|event| matches!(event, Event::MappingStart(..))).unwrap();
    read_node(start, &mut events)
}

fn read_node<'a>(start: Event<'a>, events: &mut impl Iterator<Item = Event<'a>>) -> Value {
    match start {
        Event::Scalar(text, ..) => text.into(),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match events.next().unwrap() {
                    Event::SequenceEnd => return items.into(),
                    item => items.push(read_node(item, events)),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut entries = Map::new();
            loop {
                match events.next().unwrap() {
                    Event::MappingEnd => return entries.into(),
                    Event::Scalar(key, ..) => {
                        let value = events.next().unwrap();
                        let former = entries.insert(key.into_owned(), read_node(value, events));
                        assert!(former.is_none(), "a key is there twice");
                    }
                    other => panic!("{other:?} is no key"),
                }
            }
        }
        other => panic!("{other:?}: the test reads no anchors"),
    }
}
