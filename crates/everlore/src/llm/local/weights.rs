//! The weights of an encoder in eight bits a number, one scale for each row.

use super::{
    projection::Projection,
    shape::Shape,
    tensors::{Tensors, Writer},
};
use crate::error::Result;

/// A table of which each row has a scale of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matrix {
    pub(super) width: usize,
    pub(super) values: Vec<i8>,
    pub(super) scales: Vec<f32>,
}

/// A table with what is added to its products.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Linear {
    pub(super) weight: Matrix,
    pub(super) bias: Vec<f32>,
}

/// What brings a row to mean 0 and deviation 1, then to a learned size and place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Norm {
    pub(super) gain: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

/// One layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) attended: Linear,
    pub(super) attended_norm: Norm,
    pub(super) up: Linear,
    pub(super) down: Linear,
    pub(super) output_norm: Norm,
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weights {
    pub(super) words: Matrix,
    pub(super) positions: Matrix,
    pub(super) kinds: Matrix,
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
    /// In a file in eight bits; learnt for others.
    pub(super) projection: Option<Projection>,
}

/// The tensors of the projection.
const CENTRE: &str = "everlore.centre";
const AXES: &str = "everlore.axes";

impl Matrix {
    /// Rounds each row to eight bits a number.
    pub(super) fn quantize(numbers: &[f32], width: usize) -> Self {
        let (mut wide, mut scales) = (vec![0; numbers.len()], vec![0.0; numbers.len() / width]);
        everlore_kernel::round(numbers, width, &mut wide, &mut scales);
        let values = wide.into_iter().map(|value| value as i8).collect();
        Self { width, values, scales }
    }

    /// A row with its scale.
    pub(super) fn row(&self, index: usize) -> (&[i8], f32) {
        (&self.values[index * self.width..][..self.width], self.scales[index])
    }
}

/// Reads tensors by name, whatever was put before the names of a whole model.
struct Source<'a> {
    tensors: &'a Tensors,
    prefix: &'static str,
}

impl Source<'_> {
    fn matrix(&self, name: &str, rows: usize, width: usize) -> Result<Matrix> {
        let name = format!("{}{name}.weight", self.prefix);
        let scales = scales_of(&name);
        if self.tensors.has(&scales) {
            let values = self.tensors.bytes(&name, &[rows, width])?;
            return Ok(Matrix { width, values, scales: self.tensors.floats(&scales, &[rows])? });
        }
        Ok(Matrix::quantize(&self.tensors.floats(&name, &[rows, width])?, width))
    }

    fn linear(&self, name: &str, rows: usize, width: usize) -> Result<Linear> {
        let bias = self.tensors.floats(&format!("{}{name}.bias", self.prefix), &[rows])?;
        Ok(Linear { weight: self.matrix(name, rows, width)?, bias })
    }

    fn norm(&self, name: &str, width: usize) -> Result<Norm> {
        let part = |part| self.tensors.floats(&format!("{}{name}.{part}", self.prefix), &[width]);
        Ok(Norm { gain: part("weight")?, bias: part("bias")? })
    }

    fn layer(&self, number: usize, shape: &Shape) -> Result<Layer> {
        let (width, inner) = (shape.hidden_size, shape.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(Layer {
            query: self.linear(&name("attention.self.query"), width, width)?,
            key: self.linear(&name("attention.self.key"), width, width)?,
            value: self.linear(&name("attention.self.value"), width, width)?,
            attended: self.linear(&name("attention.output.dense"), width, width)?,
            attended_norm: self.norm(&name("attention.output.LayerNorm"), width)?,
            up: self.linear(&name("intermediate.dense"), inner, width)?,
            down: self.linear(&name("output.dense"), width, inner)?,
            output_norm: self.norm(&name("output.LayerNorm"), width)?,
        })
    }
}

/// The tensor with the scales of a table.
fn scales_of(name: &str) -> String {
    format!("{name}.scales")
}

impl Weights {
    /// Takes what the forward pass needs out of a file; real numbers are rounded to eight bits.
    pub(super) fn read(tensors: &Tensors, shape: &Shape) -> Result<Self> {
        let whole = tensors.has("bert.embeddings.word_embeddings.weight");
        let source = Source { tensors, prefix: if whole { "bert." } else { "" } };
        let width = shape.hidden_size;
        let layers = (0..shape.num_hidden_layers).map(|number| source.layer(number, shape));
        Ok(Self {
            words: source.matrix("embeddings.word_embeddings", shape.vocab_size, width)?,
            positions: source.matrix(
                "embeddings.position_embeddings",
                shape.max_position_embeddings,
                width,
            )?,
            kinds: source.matrix("embeddings.token_type_embeddings", 2, width)?,
            norm: source.norm("embeddings.LayerNorm", width)?,
            layers: layers.collect::<Result<_>>()?,
            projection: projection(tensors, width)?,
        })
    }

    /// The same as a file in eight bits, from which it is read without rounding.
    pub(super) fn to_file(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        write_matrix(&mut writer, "embeddings.word_embeddings", &self.words);
        write_matrix(&mut writer, "embeddings.position_embeddings", &self.positions);
        write_matrix(&mut writer, "embeddings.token_type_embeddings", &self.kinds);
        write_norm(&mut writer, "embeddings.LayerNorm", &self.norm);
        for (number, layer) in self.layers.iter().enumerate() {
            write_layer(&mut writer, number, layer);
        }
        if let Some(Projection { centre, axes }) = &self.projection {
            writer.floats(CENTRE, &[centre.len()], centre);
            writer.floats(AXES, &[Projection::kept(centre.len()), centre.len()], axes);
        }
        writer.finish()
    }
}

fn projection(tensors: &Tensors, width: usize) -> Result<Option<Projection>> {
    if !tensors.has(CENTRE) {
        return Ok(None);
    }
    let centre = tensors.floats(CENTRE, &[width])?;
    Ok(Some(Projection { centre, axes: tensors.floats(AXES, &[Projection::kept(width), width])? }))
}

fn write_layer(writer: &mut Writer, number: usize, layer: &Layer) {
    let name = |part: &str| format!("encoder.layer.{number}.{part}");
    let linears = [
        ("attention.self.query", &layer.query),
        ("attention.self.key", &layer.key),
        ("attention.self.value", &layer.value),
        ("attention.output.dense", &layer.attended),
        ("intermediate.dense", &layer.up),
        ("output.dense", &layer.down),
    ];
    for (part, linear) in linears {
        write_matrix(writer, &name(part), &linear.weight);
        writer.floats(&format!("{}.bias", name(part)), &[linear.bias.len()], &linear.bias);
    }
    write_norm(writer, &name("attention.output.LayerNorm"), &layer.attended_norm);
    write_norm(writer, &name("output.LayerNorm"), &layer.output_norm);
}

fn write_matrix(writer: &mut Writer, name: &str, matrix: &Matrix) {
    let name = format!("{name}.weight");
    writer.bytes(&name, &[matrix.scales.len(), matrix.width], &matrix.values);
    writer.floats(&scales_of(&name), &[matrix.scales.len()], &matrix.scales);
}

fn write_norm(writer: &mut Writer, name: &str, norm: &Norm) {
    writer.floats(&format!("{name}.weight"), &[norm.gain.len()], &norm.gain);
    writer.floats(&format!("{name}.bias"), &[norm.bias.len()], &norm.bias);
}
