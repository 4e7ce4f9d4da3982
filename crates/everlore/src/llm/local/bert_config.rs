//! Configuration of a BERT model, and the checks that this encoder can run it.

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    llm::wordpiece,
};

/// Sizes of a BERT encoder, under the names of its `config.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BertConfig {
    pub(super) model_type: String,
    pub(super) hidden_act: String,
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) vocab_size: usize,
    pub(super) layer_norm_eps: f32,
    #[serde(default = "absolute")]
    pub(super) position_embedding_type: String,
    /// Components of a word row, which a projection widens to `hidden_size`; 0 if rows are as wide as that and not
    /// packed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) word_embedding_size: usize,
}

fn is_zero(size: &usize) -> bool {
    *size == 0
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl BertConfig {
    /// Parses and checks `config.json` of a model with BERT's vocabulary.
    pub(super) fn parse(config: &[u8]) -> Result<Self> {
        Self::parse_for_vocabulary(config, wordpiece::VOCAB_SIZE)
    }

    /// Parses and checks `config.json` of a model with so many word pieces.
    pub(super) fn parse_for_vocabulary(config: &[u8], vocab_size: usize) -> Result<Self> {
        let json: serde_json::Value = serde_json::from_slice(config)
            .map_err(|error| unsupported_model(&format!("{error}")))?;
        let kind = json["model_type"].as_str().unwrap_or("unknown");
        if kind != "bert" {
            return Err(unsupported_model(&format!("its model_type is `{kind}`, and not `bert`")));
        }
        let config: Self =
            serde_json::from_value(json).map_err(|error| unsupported_model(&error.to_string()))?;
        config
            .find_problem(vocab_size)
            .map_or(Ok(config), |problem| Err(unsupported_model(&problem)))
    }

    /// Returns the width of an attention head.
    pub(super) fn head_width(&self) -> usize {
        self.hidden_size / self.num_attention_heads
    }

    /// Returns the first property that the encoder does not support.
    fn find_problem(&self, vocab_size: usize) -> Option<String> {
        let sizes = [self.hidden_size, self.intermediate_size, self.num_attention_heads];
        let problems = [
            (
                self.hidden_act != "gelu",
                format!("its hidden_act is `{}`, and not `gelu`", self.hidden_act),
            ),
            (
                self.position_embedding_type != "absolute",
                "its positions are not absolute".to_owned(),
            ),
            (
                self.vocab_size != vocab_size,
                format!("it has {} word pieces, and not {vocab_size}", self.vocab_size),
            ),
            (
                sizes.contains(&0)
                    || !self.hidden_size.is_multiple_of(self.num_attention_heads.max(1)),
                "its sizes do not fit together".to_owned(),
            ),
            // Far beyond any sentence encoder: such a file would exhaust the memory.
            (
                sizes.iter().any(|size| *size > 8_192) || self.num_hidden_layers > 64,
                "it is too large".to_owned(),
            ),
            (
                self.max_position_embeddings < 16,
                "its context has fewer than 16 word pieces".to_owned(),
            ),
        ];
        problems.into_iter().find(|(is_one, _)| *is_one).map(|(_, problem)| problem)
    }
}

/// Checks that `vocab.txt` is the compiled-in vocabulary.
pub(super) fn check_vocabulary(lines: &[u8]) -> Result<()> {
    if wordpiece::is_vocabulary(lines) {
        return Ok(());
    }
    Err(unsupported_model("its vocab.txt is not that of BERT's uncased models"))
}

/// Checks the vocabulary in `tokenizer.json`, for a folder without `vocab.txt`.
pub(super) fn check_tokenizer(json: &[u8]) -> Result<()> {
    let json: serde_json::Value = serde_json::from_slice(json)
        .map_err(|error| unsupported_model(&format!("tokenizer.json: {error}")))?;
    let pieces = json["model"]["vocab"]
        .as_object()
        .ok_or_else(|| unsupported_model("its tokenizer has no vocabulary"))?;
    let mut lines = vec![""; pieces.len()];
    for (piece, id) in pieces {
        let line = id.as_u64().and_then(|id| lines.get_mut(id as usize));
        *line.ok_or_else(|| unsupported_model("its tokenizer numbers its pieces with gaps"))? =
            piece.as_str();
    }
    check_vocabulary((lines.join("\n") + "\n").as_bytes())
}

fn unsupported_model(why: &str) -> Error {
    Error::invalid(
        format!("this model cannot be run here: {why}"),
        "point at a BERT encoder with the uncased English vocabulary, such as all-MiniLM-L6-v2",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINILM: &str = r#"{"model_type":"bert","hidden_act":"gelu","hidden_size":384,"intermediate_size":1536,
        "num_hidden_layers":6,"num_attention_heads":12,"max_position_embeddings":512,"vocab_size":30522,
        "layer_norm_eps":1e-12,"architectures":["BertModel"]}"#;

    fn refusal(config: &str) -> String {
        BertConfig::parse(config.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn the_sizes_of_an_encoder_are_read() {
        let config = BertConfig::parse(MINILM.as_bytes()).unwrap();
        assert_eq!(
            (config.hidden_size, config.head_width(), config.layer_norm_eps),
            (384, 32, 1e-12)
        );
    }

    #[test]
    fn other_models_are_refused_with_the_reason() {
        for (from, to, reason) in [
            ("\"bert\"", "\"llama\"", "model_type is `llama`"),
            ("\"gelu\"", "\"relu\"", "hidden_act is `relu`"),
            ("30522", "21128", "21128 word pieces"),
            ("\"num_attention_heads\":12", "\"num_attention_heads\":7", "do not fit"),
            ("\"num_attention_heads\":12", "\"num_attention_heads\":0", "do not fit"),
            ("\"hidden_size\":384", "\"hidden_size\":38400", "too large"),
            ("\"hidden_size\":384", "\"hidden_width\":384", "hidden_size"),
        ] {
            let error = refusal(&MINILM.replace(from, to));
            assert!(error.contains(reason), "{error}");
        }
        assert!(refusal("{").contains("cannot be run here"));
    }

    #[test]
    fn the_vocabulary_must_be_the_one_that_texts_are_cut_by() {
        let own = include_bytes!("../../../assets/embedder/vocab.txt");
        assert!(check_vocabulary(own).is_ok());
        assert!(check_vocabulary(&own[..own.len() - 5]).is_err());
        let pieces = String::from_utf8(own.to_vec()).unwrap();
        let numbered = pieces.lines().enumerate().map(|(id, piece)| (piece.to_owned(), id.into()));
        let vocab: serde_json::Map<String, serde_json::Value> = numbered.collect();
        let json = serde_json::json!({ "model": { "vocab": vocab } });
        assert!(check_tokenizer(json.to_string().as_bytes()).is_ok());
        let gaps = serde_json::json!({ "model": { "vocab": { "a": 7 } } });
        assert!(
            check_tokenizer(gaps.to_string().as_bytes()).unwrap_err().to_string().contains("gaps")
        );
        assert!(check_tokenizer(b"{}").is_err() && check_tokenizer(b"").is_err());
    }
}
