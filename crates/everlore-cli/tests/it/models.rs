//! `everlore model`: a tiny local model is added, checked, activated and removed.

use std::{fs, path::Path};

use crate::home::TestHome;

const WIDTH: usize = 16;

/// Writes an encoder of one layer whose numbers look random.
fn write_tiny_model(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let config = r#"{"model_type":"bert","hidden_act":"gelu","hidden_size":16,"intermediate_size":16,"num_hidden_layers":1,
        "num_attention_heads":2,"max_position_embeddings":64,"vocab_size":30522,"layer_norm_eps":1e-12}"#;
    fs::write(folder.join("config.json"), config).unwrap();
    let vocabulary = concat!(env!("CARGO_MANIFEST_DIR"), "/../everlore/assets/embedder/vocab.txt");
    fs::copy(vocabulary, folder.join("vocab.txt")).unwrap();
    let mut tensors = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![30_522, WIDTH]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![64, WIDTH]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, WIDTH]),
    ];
    let mut add = |name: &str, shapes: &[&[usize]]| {
        for (part, shape) in ["weight", "bias"].iter().zip(shapes) {
            tensors.push((format!("{name}.{part}"), shape.to_vec()));
        }
    };
    add("embeddings.LayerNorm", &[&[WIDTH], &[WIDTH]]);
    for name in [
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "intermediate.dense",
        "output.dense",
    ] {
        add(&format!("encoder.layer.0.{name}"), &[&[WIDTH, WIDTH], &[WIDTH]]);
    }
    for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
        add(&format!("encoder.layer.0.{name}"), &[&[WIDTH], &[WIDTH]]);
    }
    let (mut header, mut data, mut state) = (serde_json::Map::new(), Vec::new(), 7_u32);
    for (name, shape) in tensors {
        let start = data.len();
        for _ in 0..shape.iter().product() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = (state >> 8) as f32 / (1 << 23) as f32 - 1.0;
            data.extend(number.to_le_bytes());
        }
        let entry = serde_json::json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, data.len()] });
        header.insert(name, entry);
    }
    let header = serde_json::to_vec(&header).unwrap();
    let file = [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat();
    fs::write(folder.join("model.safetensors"), file).unwrap();
}

#[test]
fn a_model_is_added_taken_into_use_and_removed() {
    let home = TestHome::new();
    let folder = home.sibling("tiny");
    write_tiny_model(&folder);
    let added = home.json(&["model", "add", folder.to_str().unwrap()]);
    assert_eq!(
        (&added["name"], &added["next"]),
        (&"tiny".into(), &"everlore model use tiny".into())
    );
    assert!(
        added["bytes"].as_u64().unwrap()
            < fs::metadata(folder.join("model.safetensors")).unwrap().len() / 2
    );
    let again = home.run(&["model", "add", folder.to_str().unwrap()]);
    assert!(again.code == 2 && again.err.contains("there is a model `tiny` already"), "{again:?}");
    // It works without the folder it came from.
    fs::remove_dir_all(&folder).unwrap();
    let checked = home.run(&["--json", "model", "check", "tiny"]).json();
    assert!(checked["of"] == 3 && checked["text_ms"].as_f64().unwrap() > 0.0, "{checked}");

    let texts = ["My puppy learned to swim", "The staging port is 9443", "我喜欢龙井茶"];
    texts.iter().for_each(|text| drop(home.remember(text)));
    let output = home.run(&["model", "use", "tiny"]).out;
    assert!(
        output.contains("tiny is active") && output.contains("everlore embed rebuild"),
        "{output}"
    );
    let status = home.json(&["embed", "status"]);
    assert_eq!((&status["status"]["read"], &status["status"]["unread"]), (&0.into(), &3.into()));
    assert_eq!(home.json(&["embed", "rebuild"])["read"], 3);
    let explained = home.run(&["recall", "--explain", "staging port", "puppy"].map(String::from));
    assert!(explained.out.contains(" + words "), "{explained:?}");
    assert_eq!(home.recall("龙井")[0], texts[2]);
    let listed = home.json(&["model", "list"]);
    assert_eq!(listed["in_use"], serde_json::json!({ "name": "tiny", "pooled": false }));

    let used = home.run(&["model", "remove", "tiny"]);
    assert!(used.code == 2 && used.err.contains("`tiny` is active"), "{used:?}");
    assert_eq!(home.json(&["model", "use", "builtin"])["in_use"], serde_json::Value::Null);
    assert_eq!(home.json(&["model", "remove", "tiny"])["removed"], "tiny");
    let missing = home.run(&["model", "use", "tiny"]);
    assert!(missing.code == 2 && missing.err.contains("there is no model `tiny`"), "{missing:?}");
    assert!(!home.recall("staging port").is_empty());
}

#[test]
fn a_model_can_make_the_vectors_of_whole_texts() {
    let home = TestHome::new();
    write_tiny_model(&home.sibling("tiny"));
    home.remember("The staging port is 9443");
    home.json(&["model", "add", home.sibling("tiny").to_str().unwrap(), "--name", "小模型"]);
    let taken = home.json(&["model", "use", "小模型", "--pooled"]);
    assert_eq!(taken["next"], "everlore embed switch");
    home.remember("stored between the two models");
    assert_eq!(home.json(&["embed", "switch"])["made"], 2);
    let status = home.json(&["embed", "status"])["status"].clone();
    assert!(status["in_use"]["name"].as_str().unwrap().starts_with("local-sentence-"), "{status}");
    assert_eq!(home.json(&["model", "use", "builtin"])["next"], "everlore embed switch");
    assert_eq!(home.json(&["embed", "switch"])["made"], 2);
}

#[test]
fn a_folder_without_a_model_is_rejected_and_leaves_nothing() {
    let home = TestHome::new();
    let ran = home.run(&["model", "add", home.sibling("nowhere").to_str().unwrap(), "--name", "x"]);
    assert!(ran.code == 2 && ran.err.contains("nowhere does not exist"), "{ran:?}");
    fs::create_dir_all(home.sibling("bad")).unwrap();
    let ran = home.run(&["model", "add", home.sibling("bad").to_str().unwrap(), "--name", "x"]);
    assert!(ran.code == 2 && ran.err.contains("there is no tokenizer.json"), "{ran:?}");
    for name in ["../escape", "builtin", ".hidden", ""] {
        let ran =
            home.run(&["model", "add", home.sibling("bad").to_str().unwrap(), "--name", name]);
        assert!(ran.code == 2 && ran.err.contains("cannot be the name of a model"), "{ran:?}");
    }
    let ran = home.run(&["model", "check"]);
    assert!(ran.code == 2 && ran.err.contains("no local model is active"), "{ran:?}");
    assert!(!home.path().join("models").exists());
}

#[test]
fn a_forgotten_text_leaves_no_words_with_the_model() {
    let home = TestHome::new();
    write_tiny_model(&home.sibling("tiny"));
    home.json(&["model", "add", home.sibling("tiny").to_str().unwrap()]);
    home.json(&["model", "use", "tiny"]);
    let id = home.remember("The code of the safe is 4711");
    home.remember("A second memory");
    home.json(&["embed", "rebuild"]);
    let receipt = home.json(&["memory", "forget", "--yes", &id]);
    assert_eq!(receipt["forgotten"][0]["removed"]["vectors"], 2, "{receipt}");
    let status = home.json(&["embed", "status"])["status"].clone();
    assert_eq!((&status["read"], &status["unread"]), (&1.into(), &0.into()));
}
