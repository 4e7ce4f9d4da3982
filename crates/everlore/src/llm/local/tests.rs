//! Tests of local models: a tiny encoder beside a plain forward pass in floats, and invalid model folders.

use std::{collections::BTreeMap, fs, path::Path};

use super::{safetensors::TensorWriter, *};

const WIDTH: usize = 32;
const INNER: usize = 48;
const HEADS: usize = 4;
const LAYERS: usize = 2;
const POSITIONS: usize = 40;

const CONFIG_TEXT: &str = r#"{"model_type":"bert","hidden_act":"gelu","hidden_size":32,"intermediate_size":48,
    "num_hidden_layers":2,"num_attention_heads":4,"max_position_embeddings":40,"vocab_size":30522,"layer_norm_eps":1e-12}"#;

/// Pseudo-random numbers between -1 and 1, the same every time.
struct NumberGenerator(u64);

impl NumberGenerator {
    fn next(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn many(&mut self, count: usize, size: f32, around: f32) -> Vec<f32> {
        (0..count).map(|_| self.next() * size + around).collect()
    }
}

/// Tensors of the tiny encoder by name, with their shapes.
fn tiny_tensors() -> BTreeMap<String, (Vec<usize>, Vec<f32>)> {
    let mut numbers = NumberGenerator(7);
    let mut tensors = BTreeMap::new();
    let mut add = |name: String, shape: &[usize], size: f32, around: f32| {
        let count = shape.iter().product();
        tensors.insert(name, (shape.to_vec(), numbers.many(count, size, around)));
    };
    for (name, rows) in
        [("word", wordpiece::VOCAB_SIZE), ("position", POSITIONS), ("token_type", 2)]
    {
        add(format!("embeddings.{name}_embeddings.weight"), &[rows, WIDTH], 0.5, 0.0);
    }
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in 0..LAYERS {
        let layer = format!("encoder.layer.{layer}");
        let linears = [
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", INNER, WIDTH),
            ("output.dense", WIDTH, INNER),
        ];
        for (name, rows, width) in linears {
            add(format!("{layer}.{name}.weight"), &[rows, width], 0.3, 0.0);
            add(format!("{layer}.{name}.bias"), &[rows], 0.1, 0.0);
        }
        norms
            .extend(["attention.output", "output"].map(|part| format!("{layer}.{part}.LayerNorm")));
    }
    for norm in norms {
        add(format!("{norm}.weight"), &[WIDTH], 0.2, 1.0);
        add(format!("{norm}.bias"), &[WIDTH], 0.1, 0.0);
    }
    tensors
}

type TinyTensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

fn save(folder: &Path, tensors: &TinyTensors, prefix: &str) {
    let mut writer = TensorWriter::default();
    for (name, (shape, numbers)) in tensors {
        writer.floats(&format!("{prefix}{name}"), shape, numbers);
    }
    fs::write(folder.join(TENSORS_FILE), writer.finish().unwrap()).unwrap();
    fs::write(folder.join(CONFIG_FILE), CONFIG_TEXT).unwrap();
    fs::write(folder.join(VOCABULARY_FILE), include_bytes!("../../../assets/embedder/vocab.txt"))
        .unwrap();
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), &tiny_tensors(), "");
    folder
}

/// Plain forward pass as in the papers: in floats, one number at a time.
struct ReferenceEncoder(TinyTensors);

impl ReferenceEncoder {
    fn get(&self, name: &str) -> &[f32] {
        &self.0[name].1
    }

    fn linear(&self, name: &str, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let (weight, bias) =
            (self.get(&format!("{name}.weight")), self.get(&format!("{name}.bias")));
        let out = |row: &Vec<f64>| -> Vec<f64> {
            let one = |(weight, bias): (&[f32], &f32)| {
                weight.iter().zip(row).map(|(a, b)| f64::from(*a) * b).sum::<f64>()
                    + f64::from(*bias)
            };
            weight.chunks_exact(row.len()).zip(bias).map(one).collect()
        };
        rows.iter().map(out).collect()
    }

    fn norm(&self, name: &str, rows: &mut [Vec<f64>]) {
        let (gain, bias) = (self.get(&format!("{name}.weight")), self.get(&format!("{name}.bias")));
        for row in rows {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
            for ((x, gain), bias) in row.iter_mut().zip(gain).zip(bias) {
                *x = (*x - mean) / (variance + 1e-12).sqrt() * f64::from(*gain) + f64::from(*bias);
            }
        }
    }

    fn attention(&self, name: &str, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let part = |part: &str| self.linear(&format!("{name}.attention.self.{part}"), rows);
        let (queries, keys, values) = (part("query"), part("key"), part("value"));
        let head = WIDTH / HEADS;
        let mut out = vec![vec![0.0; WIDTH]; rows.len()];
        for (query, out) in queries.iter().zip(&mut out) {
            for start in (0..WIDTH).step_by(head) {
                let slice = start..start + head;
                let score = |key: &Vec<f64>| {
                    let dot: f64 = query[slice.clone()]
                        .iter()
                        .zip(&key[slice.clone()])
                        .map(|(a, b)| a * b)
                        .sum();
                    (dot / (head as f64).sqrt()).exp()
                };
                let scores: Vec<f64> = keys.iter().map(score).collect();
                let total: f64 = scores.iter().sum();
                for (score, value) in scores.iter().zip(&values) {
                    for column in slice.clone() {
                        out[column] += score / total * value[column];
                    }
                }
            }
        }
        out
    }

    fn run(&self, pieces: &[u16]) -> Vec<Vec<f64>> {
        let row = |name: &str, index: usize| {
            let numbers = &self.get(&format!("embeddings.{name}_embeddings.weight"))
                [index * WIDTH..][..WIDTH];
            numbers.iter().map(|number| f64::from(*number)).collect::<Vec<_>>()
        };
        let embed = |(position, piece): (usize, &u16)| {
            sum(
                &sum(&row("word", usize::from(*piece)), &row("position", position)),
                &row("token_type", 0),
            )
        };
        let mut rows: Vec<Vec<f64>> = pieces.iter().enumerate().map(embed).collect();
        self.norm("embeddings.LayerNorm", &mut rows);
        for layer in 0..LAYERS {
            let name = format!("encoder.layer.{layer}");
            let attended = self.attention(&name, &rows);
            let attended = self.linear(&format!("{name}.attention.output.dense"), &attended);
            rows = rows.iter().zip(&attended).map(|(a, b)| sum(a, b)).collect();
            self.norm(&format!("{name}.attention.output.LayerNorm"), &mut rows);
            let mut inner = self.linear(&format!("{name}.intermediate.dense"), &rows);
            inner.iter_mut().flatten().for_each(|x| *x *= normal_cdf(*x));
            let output = self.linear(&format!("{name}.output.dense"), &inner);
            rows = rows.iter().zip(&output).map(|(a, b)| sum(a, b)).collect();
            self.norm(&format!("{name}.output.LayerNorm"), &mut rows);
        }
        rows
    }
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// Integrates the normal distribution below x in thin slices.
fn normal_cdf(x: f64) -> f64 {
    const SLICES: usize = 400;
    let width = x / SLICES as f64;
    let density = |at: f64| (-at * at / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    0.5 + (0..SLICES).map(|slice| density((slice as f64 + 0.5) * width) * width).sum::<f64>()
}

fn cosine(a: &[f32], b: &[f64]) -> f64 {
    let dot: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * b).sum();
    let length_a = a.iter().map(|a| f64::from(*a).powi(2)).sum::<f64>().sqrt();
    dot / length_a / b.iter().map(|b| b * b).sum::<f64>().sqrt()
}

#[test]
fn the_forward_pass_agrees_with_the_plain_one() {
    let folder = folder();
    let model = LocalModel::read(folder.path()).unwrap();
    let encoder = model.encoder().unwrap();
    for text in [
        "a",
        "The physician prescribed antibiotics.",
        "我喜欢龙井茶",
        "one two three four five six seven",
    ] {
        let own = encoder.tokenize(text);
        let framed: Vec<u16> =
            [&[bert_encoder::CLS_PIECE], &own[..], &[bert_encoder::SEP_PIECE]].concat();
        let (fast, plain) =
            (encoder.run_forward(&own), ReferenceEncoder(tiny_tensors()).run(&framed));
        assert_eq!(fast.len(), plain.len() * WIDTH);
        for (fast, plain) in fast.chunks_exact(WIDTH).zip(&plain) {
            assert!(cosine(fast, plain) > 0.999, "{text}: {}", cosine(fast, plain));
        }
    }
}

#[test]
fn a_converted_model_says_the_same_and_is_smaller() {
    let (folder, home) = (folder(), tempfile::tempdir().unwrap());
    let model = LocalModel::read(folder.path()).unwrap();
    let into = home.path().join("models").join("tiny");
    let size = model.save_quantized(&into).unwrap();
    let original = fs::metadata(folder.path().join(TENSORS_FILE)).unwrap().len();
    assert!(size < original / 3, "{size} of {original}");
    let opened = LocalModel::open(&into).unwrap();
    assert_eq!(opened.id(), model.id());
    assert!(opened.encoder.get().is_none(), "nothing is read before it is needed");
    assert_eq!(opened.vector("a river").unwrap(), model.vector("a river").unwrap());
    assert_eq!(opened.token_vectors("a river").unwrap().len(), 2);
    assert!(model.save_quantized(&into).is_err(), "a model that is there is not overwritten");
}

#[test]
fn a_model_that_was_changed_after_it_was_added_is_refused() {
    let (folder, home) = (folder(), tempfile::tempdir().unwrap());
    let into = home.path().join("tiny");
    LocalModel::read(folder.path()).unwrap().save_quantized(&into).unwrap();
    let mut bytes = fs::read(into.join(TENSORS_FILE)).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(into.join(TENSORS_FILE), bytes).unwrap();
    let refused = LocalModel::open(&into).unwrap().preload().unwrap_err();
    assert!(refused.to_string().contains("was changed after it was added"), "{refused}");
}

#[test]
fn weights_under_the_names_of_a_whole_model_are_found() {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), &tiny_tensors(), "bert.");
    let whole = LocalModel::read(folder.path()).unwrap();
    assert_eq!(whole.id(), LocalModel::read(self::folder().path()).unwrap().id());
}

#[test]
fn texts_without_words_and_very_long_ones_are_read_too() {
    let folder = folder();
    let model = LocalModel::read(folder.path()).unwrap();
    assert_eq!(model.vector(" \n").unwrap(), vec![0.0; WIDTH]);
    assert_eq!(model.token_vectors("").unwrap(), Vec::<Vec<f32>>::new());
    let long = "word ".repeat(1_000);
    assert_eq!(
        model.token_vectors(&long).unwrap().len(),
        POSITIONS - 2,
        "as many as it has positions for"
    );
    let length: f32 = model.vector(&long).unwrap().iter().map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-4);
}

fn refusal(folder: &Path) -> String {
    LocalModel::read(folder).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_with_a_folder_is_said() {
    let empty = tempfile::tempdir().unwrap();
    assert!(refusal(empty.path()).contains("there is no tokenizer.json"));
    assert!(refusal(&empty.path().join("nowhere")).contains("there is no"));
    let folder = folder();
    let mut short = tiny_tensors();
    short.remove("encoder.layer.1.output.dense.weight");
    save(folder.path(), &short, "");
    assert!(refusal(folder.path()).contains("no tensor `encoder.layer.1.output.dense.weight`"));
    let mut wrong = tiny_tensors();
    let name = "encoder.layer.0.attention.self.key.weight";
    wrong.insert(name.into(), (vec![WIDTH, 1], vec![0.0; WIDTH]));
    save(folder.path(), &wrong, "");
    assert!(refusal(folder.path()).contains("has the shape [32, 1], and not [32, 32]"));
    fs::write(folder.path().join(CONFIG_FILE), CONFIG_TEXT.replace("bert", "gpt2")).unwrap();
    assert!(refusal(folder.path()).contains("`gpt2`"));
    fs::remove_file(folder.path().join(CONFIG_FILE)).unwrap();
    assert!(refusal(folder.path()).contains("there is no config.json"));
}

#[tokio::test]
async fn a_question_finds_its_own_words() {
    let folder = folder();
    let model = LocalModel::read(folder.path()).unwrap();
    let query = model.encode_query(&["river", "bank"]).await.unwrap().weigh([2.0, 1.0]);
    let packed = Reranker::encode_texts(&model, &["river bank", "纯粹的中文"]).await.unwrap();
    let alike = |packed: &PackedTokenVectors| query.weighted_sum(&query.compare(&packed.0).tokens);
    assert!(
        alike(&packed[0]) > 0.85 && alike(&packed[0]) > alike(&packed[1]),
        "{}",
        alike(&packed[0])
    );
}
