//! Encoder weights quantized to eight bits, with one scale per row.

use everlore_kernel::{WeightMatrix, packed_row_bytes};

use super::{
    bert_config::BertConfig,
    packed_rows::PackedRows,
    projection::PcaProjection,
    safetensors::{TensorFile, TensorWriter},
};
use crate::error::Result;

/// Matrix quantized to eight bits, with one scale per row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuantizedMatrix {
    pub(super) width: usize,
    pub(super) values: Vec<i8>,
    pub(super) scales: Vec<f32>,
}

/// Linear layer: weight matrix, with one scale per row, and bias.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LinearLayer {
    pub(super) weight: WeightMatrix,
    pub(super) scales: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

/// Layer normalization: gain and bias applied after scaling a row to mean 0 and deviation 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LayerNorm {
    pub(super) gain: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

/// Transformer layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EncoderLayer {
    pub(super) query: LinearLayer,
    pub(super) key: LinearLayer,
    pub(super) value: LinearLayer,
    pub(super) attention_output: LinearLayer,
    pub(super) attention_norm: LayerNorm,
    pub(super) up: LinearLayer,
    pub(super) down: LinearLayer,
    pub(super) output_norm: LayerNorm,
}

/// Rows of word pieces.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum WordEmbeddings {
    /// Eight bits per value, as wide as the model.
    Quantized(QuantizedMatrix),
    /// Four bits per value, narrower than the model, with the projection that widens them.
    Packed { rows: PackedRows, projection: LinearLayer },
}

/// All weights of an encoder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EncoderWeights {
    pub(super) word_embeddings: WordEmbeddings,
    pub(super) position_embeddings: QuantizedMatrix,
    pub(super) token_type_embeddings: QuantizedMatrix,
    pub(super) norm: LayerNorm,
    pub(super) layers: Vec<EncoderLayer>,
    /// Projection of token vectors: stored in 8-bit files, fitted for others.
    pub(super) projection: Option<PcaProjection>,
}

/// Tensor names of the projection.
const MEAN_TENSOR: &str = "everlore.centre";
const AXES_TENSOR: &str = "everlore.axes";

impl QuantizedMatrix {
    /// Quantizes each row to eight bits.
    pub(super) fn quantize(numbers: &[f32], width: usize) -> Self {
        let (mut wide, mut scales) = (vec![0; numbers.len()], vec![0.0; numbers.len() / width]);
        everlore_kernel::quantize_rows(numbers, width, &mut wide, &mut scales);
        let values = wide.into_iter().map(|value| value as i8).collect();
        Self { width, values, scales }
    }

    /// Reads a matrix that is stored with its scales, or quantizes one of floats.
    pub(super) fn read(
        tensors: &TensorFile,
        name: &str,
        rows: usize,
        width: usize,
    ) -> Result<Self> {
        let scales = scales_name(name);
        if !tensors.has(&scales) {
            return Ok(Self::quantize(&tensors.floats(name, &[rows, width])?, width));
        }
        let values = tensors.bytes(name, &[rows, width])?;
        Ok(Self { width, values, scales: tensors.floats(&scales, &[rows])? })
    }

    /// Returns a row and its scale.
    pub(super) fn row(&self, index: usize) -> (&[i8], f32) {
        (&self.values[index * self.width..][..self.width], self.scales[index])
    }
}

impl LinearLayer {
    pub(super) fn new(weight: QuantizedMatrix, bias: Vec<f32>) -> Self {
        let QuantizedMatrix { width, values, scales } = weight;
        Self { weight: WeightMatrix::new(values, width), scales, bias }
    }
}

/// Reader of named tensors, with the prefix that full BERT models put before each name.
struct WeightReader<'a> {
    tensors: &'a TensorFile,
    prefix: &'static str,
}

impl WeightReader<'_> {
    fn matrix(&self, name: &str, rows: usize, width: usize) -> Result<QuantizedMatrix> {
        let name = format!("{}{name}.weight", self.prefix);
        QuantizedMatrix::read(self.tensors, &name, rows, width)
    }

    fn words(&self, config: &BertConfig) -> Result<WordEmbeddings> {
        const NAME: &str = "embeddings.word_embeddings";
        let (count, narrow) = (config.vocab_size, config.word_embedding_size);
        if narrow == 0 {
            return Ok(WordEmbeddings::Quantized(self.matrix(NAME, count, config.hidden_size)?));
        }
        let name = format!("{}{NAME}.weight", self.prefix);
        let rows = self.tensors.packed(&name, &[count, packed_row_bytes(narrow)])?;
        let weight = self.matrix("embeddings.projection", config.hidden_size, narrow)?;
        let projection = LinearLayer::new(weight, vec![0.0; config.hidden_size]);
        Ok(WordEmbeddings::Packed { rows: PackedRows::new(rows, narrow), projection })
    }

    fn linear(&self, name: &str, rows: usize, width: usize) -> Result<LinearLayer> {
        let bias = self.tensors.floats(&format!("{}{name}.bias", self.prefix), &[rows])?;
        Ok(LinearLayer::new(self.matrix(name, rows, width)?, bias))
    }

    fn norm(&self, name: &str, width: usize) -> Result<LayerNorm> {
        let part = |part| self.tensors.floats(&format!("{}{name}.{part}", self.prefix), &[width]);
        Ok(LayerNorm { gain: part("weight")?, bias: part("bias")? })
    }

    fn layer(&self, number: usize, config: &BertConfig) -> Result<EncoderLayer> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(EncoderLayer {
            query: self.linear(&name("attention.self.query"), width, width)?,
            key: self.linear(&name("attention.self.key"), width, width)?,
            value: self.linear(&name("attention.self.value"), width, width)?,
            attention_output: self.linear(&name("attention.output.dense"), width, width)?,
            attention_norm: self.norm(&name("attention.output.LayerNorm"), width)?,
            up: self.linear(&name("intermediate.dense"), inner, width)?,
            down: self.linear(&name("output.dense"), width, inner)?,
            output_norm: self.norm(&name("output.LayerNorm"), width)?,
        })
    }
}

/// Returns the name of the tensor with the scales of a matrix.
fn scales_name(name: &str) -> String {
    format!("{name}.scales")
}

impl EncoderWeights {
    /// Reads the tensors that the forward pass needs; floats are quantized to eight bits.
    pub(super) fn from_tensors(tensors: &TensorFile, config: &BertConfig) -> Result<Self> {
        let full_model = tensors.has("bert.embeddings.word_embeddings.weight");
        let reader = WeightReader { tensors, prefix: if full_model { "bert." } else { "" } };
        let width = config.hidden_size;
        let layers = (0..config.num_hidden_layers).map(|number| reader.layer(number, config));
        Ok(Self {
            word_embeddings: reader.words(config)?,
            position_embeddings: reader.matrix(
                "embeddings.position_embeddings",
                config.max_position_embeddings,
                width,
            )?,
            token_type_embeddings: reader.matrix("embeddings.token_type_embeddings", 2, width)?,
            norm: reader.norm("embeddings.LayerNorm", width)?,
            layers: layers.collect::<Result<_>>()?,
            projection: read_projection(tensors, width)?,
        })
    }

    /// Writes a file with 8-bit weights, which reads back without rounding.
    pub(super) fn to_safetensors(&self) -> Result<Vec<u8>> {
        let mut writer = TensorWriter::default();
        if let WordEmbeddings::Quantized(words) = &self.word_embeddings {
            write_matrix(&mut writer, "embeddings.word_embeddings", words);
        }
        write_matrix(&mut writer, "embeddings.position_embeddings", &self.position_embeddings);
        write_matrix(&mut writer, "embeddings.token_type_embeddings", &self.token_type_embeddings);
        write_norm(&mut writer, "embeddings.LayerNorm", &self.norm);
        for (number, layer) in self.layers.iter().enumerate() {
            write_layer(&mut writer, number, layer);
        }
        if let Some(PcaProjection { mean, axes }) = &self.projection {
            writer.floats(MEAN_TENSOR, &[mean.len()], mean);
            writer.floats(
                AXES_TENSOR,
                &[PcaProjection::output_dimensions(mean.len()), mean.len()],
                axes,
            );
        }
        writer.finish()
    }
}

fn read_projection(tensors: &TensorFile, width: usize) -> Result<Option<PcaProjection>> {
    if !tensors.has(MEAN_TENSOR) {
        return Ok(None);
    }
    let mean = tensors.floats(MEAN_TENSOR, &[width])?;
    Ok(Some(PcaProjection {
        mean,
        axes: tensors.floats(AXES_TENSOR, &[PcaProjection::output_dimensions(width), width])?,
    }))
}

fn write_layer(writer: &mut TensorWriter, number: usize, layer: &EncoderLayer) {
    let name = |part: &str| format!("encoder.layer.{number}.{part}");
    let linears = [
        ("attention.self.query", &layer.query),
        ("attention.self.key", &layer.key),
        ("attention.self.value", &layer.value),
        ("attention.output.dense", &layer.attention_output),
        ("intermediate.dense", &layer.up),
        ("output.dense", &layer.down),
    ];
    for (part, linear) in linears {
        write_rows(writer, &name(part), &linear.weight.to_rows(), &linear.scales);
        writer.floats(&format!("{}.bias", name(part)), &[linear.bias.len()], &linear.bias);
    }
    write_norm(writer, &name("attention.output.LayerNorm"), &layer.attention_norm);
    write_norm(writer, &name("output.LayerNorm"), &layer.output_norm);
}

fn write_matrix(writer: &mut TensorWriter, name: &str, matrix: &QuantizedMatrix) {
    write_rows(writer, name, &matrix.values, &matrix.scales);
}

fn write_rows(writer: &mut TensorWriter, name: &str, values: &[i8], scales: &[f32]) {
    let name = format!("{name}.weight");
    writer.bytes(&name, &[scales.len(), values.len() / scales.len()], values);
    writer.floats(&scales_name(&name), &[scales.len()], scales);
}

fn write_norm(writer: &mut TensorWriter, name: &str, norm: &LayerNorm) {
    writer.floats(&format!("{name}.weight"), &[norm.gain.len()], &norm.gain);
    writer.floats(&format!("{name}.bias"), &[norm.bias.len()], &norm.bias);
}
