//! The weights of an encoder in eight bits a number, one scale for each row.

use super::{
    bert_config::BertConfig,
    projection::PcaProjection,
    safetensors::{TensorFile, TensorWriter},
};
use crate::error::Result;

/// A table of which each row has a scale of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuantizedMatrix {
    pub(super) width: usize,
    pub(super) values: Vec<i8>,
    pub(super) scales: Vec<f32>,
}

/// A table with what is added to its products.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LinearLayer {
    pub(super) weight: QuantizedMatrix,
    pub(super) bias: Vec<f32>,
}

/// What brings a row to mean 0 and deviation 1, then to a learned size and place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LayerNorm {
    pub(super) gain: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

/// One layer.
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

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EncoderWeights {
    pub(super) word_embeddings: QuantizedMatrix,
    pub(super) position_embeddings: QuantizedMatrix,
    pub(super) token_type_embeddings: QuantizedMatrix,
    pub(super) norm: LayerNorm,
    pub(super) layers: Vec<EncoderLayer>,
    /// In a file in eight bits; learnt for others.
    pub(super) projection: Option<PcaProjection>,
}

/// The tensors of the projection.
const MEAN_TENSOR: &str = "everlore.centre";
const AXES_TENSOR: &str = "everlore.axes";

impl QuantizedMatrix {
    /// Rounds each row to eight bits a number.
    pub(super) fn quantize(numbers: &[f32], width: usize) -> Self {
        let (mut wide, mut scales) = (vec![0; numbers.len()], vec![0.0; numbers.len() / width]);
        everlore_kernel::quantize_rows(numbers, width, &mut wide, &mut scales);
        let values = wide.into_iter().map(|value| value as i8).collect();
        Self { width, values, scales }
    }

    /// A row with its scale.
    pub(super) fn row(&self, index: usize) -> (&[i8], f32) {
        (&self.values[index * self.width..][..self.width], self.scales[index])
    }
}

/// Reads tensors by name, whatever was put before the names of a whole model.
struct WeightReader<'a> {
    tensors: &'a TensorFile,
    prefix: &'static str,
}

impl WeightReader<'_> {
    fn matrix(&self, name: &str, rows: usize, width: usize) -> Result<QuantizedMatrix> {
        let name = format!("{}{name}.weight", self.prefix);
        let scales = scales_name(&name);
        if self.tensors.has(&scales) {
            let values = self.tensors.bytes(&name, &[rows, width])?;
            return Ok(QuantizedMatrix {
                width,
                values,
                scales: self.tensors.floats(&scales, &[rows])?,
            });
        }
        Ok(QuantizedMatrix::quantize(&self.tensors.floats(&name, &[rows, width])?, width))
    }

    fn linear(&self, name: &str, rows: usize, width: usize) -> Result<LinearLayer> {
        let bias = self.tensors.floats(&format!("{}{name}.bias", self.prefix), &[rows])?;
        Ok(LinearLayer { weight: self.matrix(name, rows, width)?, bias })
    }

    fn norm(&self, name: &str, width: usize) -> Result<LayerNorm> {
        let part = |part| self.tensors.floats(&format!("{}{name}.{part}", self.prefix), &[width]);
        Ok(LayerNorm { gain: part("weight")?, bias: part("bias")? })
    }

    fn layer(&self, number: usize, shape: &BertConfig) -> Result<EncoderLayer> {
        let (width, inner) = (shape.hidden_size, shape.intermediate_size);
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

/// The tensor with the scales of a table.
fn scales_name(name: &str) -> String {
    format!("{name}.scales")
}

impl EncoderWeights {
    /// Takes what the forward pass needs out of a file; real numbers are rounded to eight bits.
    pub(super) fn from_tensors(tensors: &TensorFile, shape: &BertConfig) -> Result<Self> {
        let whole = tensors.has("bert.embeddings.word_embeddings.weight");
        let source = WeightReader { tensors, prefix: if whole { "bert." } else { "" } };
        let width = shape.hidden_size;
        let layers = (0..shape.num_hidden_layers).map(|number| source.layer(number, shape));
        Ok(Self {
            word_embeddings: source.matrix(
                "embeddings.word_embeddings",
                shape.vocab_size,
                width,
            )?,
            position_embeddings: source.matrix(
                "embeddings.position_embeddings",
                shape.max_position_embeddings,
                width,
            )?,
            token_type_embeddings: source.matrix("embeddings.token_type_embeddings", 2, width)?,
            norm: source.norm("embeddings.LayerNorm", width)?,
            layers: layers.collect::<Result<_>>()?,
            projection: read_projection(tensors, width)?,
        })
    }

    /// The same as a file in eight bits, from which it is read without rounding.
    pub(super) fn to_safetensors(&self) -> Result<Vec<u8>> {
        let mut writer = TensorWriter::default();
        write_matrix(&mut writer, "embeddings.word_embeddings", &self.word_embeddings);
        write_matrix(&mut writer, "embeddings.position_embeddings", &self.position_embeddings);
        write_matrix(&mut writer, "embeddings.token_type_embeddings", &self.token_type_embeddings);
        write_norm(&mut writer, "embeddings.LayerNorm", &self.norm);
        for (number, layer) in self.layers.iter().enumerate() {
            write_layer(&mut writer, number, layer);
        }
        if let Some(PcaProjection { mean: centre, axes }) = &self.projection {
            writer.floats(MEAN_TENSOR, &[centre.len()], centre);
            writer.floats(
                AXES_TENSOR,
                &[PcaProjection::output_dimensions(centre.len()), centre.len()],
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
    let centre = tensors.floats(MEAN_TENSOR, &[width])?;
    Ok(Some(PcaProjection {
        mean: centre,
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
        write_matrix(writer, &name(part), &linear.weight);
        writer.floats(&format!("{}.bias", name(part)), &[linear.bias.len()], &linear.bias);
    }
    write_norm(writer, &name("attention.output.LayerNorm"), &layer.attention_norm);
    write_norm(writer, &name("output.LayerNorm"), &layer.output_norm);
}

fn write_matrix(writer: &mut TensorWriter, name: &str, matrix: &QuantizedMatrix) {
    let name = format!("{name}.weight");
    writer.bytes(&name, &[matrix.scales.len(), matrix.width], &matrix.values);
    writer.floats(&scales_name(&name), &[matrix.scales.len()], &matrix.scales);
}

fn write_norm(writer: &mut TensorWriter, name: &str, norm: &LayerNorm) {
    writer.floats(&format!("{name}.weight"), &[norm.gain.len()], &norm.gain);
    writer.floats(&format!("{name}.bias"), &[norm.bias.len()], &norm.bias);
}
