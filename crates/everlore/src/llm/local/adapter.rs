//! Adapter: a low-rank change to every linear layer of the built-in encoder, with a head that reads the last hidden
//! states, so that one set of weights serves several questions about a text (`tools/encoder/adapters.py` trains them).

use std::sync::OnceLock;

use everlore_kernel::{dot_f32 as dot, gelu};

use super::{
    bert_config::BertConfig,
    safetensors::TensorFile,
    weights::{LinearLayer, QuantizedMatrix},
};
use crate::error::Result;

/// Low-rank change of a linear layer: the product of a narrow matrix, which reads a row, and of a tall one.
#[derive(Debug)]
pub(super) struct LowRankDelta {
    /// Reads a row into `rank` numbers.
    pub(super) narrow: LinearLayer,
    /// A row of outputs for each of these numbers, concatenated.
    pub(super) tall: Vec<f32>,
}

/// Changes of one transformer layer.
#[derive(Debug)]
pub(super) struct LayerAdapter {
    pub(super) query: LowRankDelta,
    pub(super) key: LowRankDelta,
    pub(super) value: LowRankDelta,
    pub(super) attention_output: LowRankDelta,
    pub(super) up: LowRankDelta,
    pub(super) down: LowRankDelta,
}

/// Changes of all layers, and the head.
#[derive(Debug)]
pub(super) struct EncoderAdapter {
    pub(super) layers: Vec<LayerAdapter>,
    /// Dense layers, with GELU between them.
    head: Vec<HeadLayer>,
}

/// Dense layer of a head.
#[derive(Debug)]
struct HeadLayer {
    /// A row of coefficients for each output, concatenated.
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl EncoderAdapter {
    /// Reads a compiled-in adapter of this rank, with a head of these widths from its input to its outputs.
    pub(super) fn parse(
        file: &'static [u8],
        config: &BertConfig,
        rank: usize,
        head: &[usize],
    ) -> Result<Self> {
        let tensors = TensorFile::parse(file.into())?;
        let reader = AdapterReader { tensors: &tensors, config, rank };
        let layers = (0..config.num_hidden_layers).map(|number| reader.layer(number));
        let dense = head.windows(2).enumerate();
        Ok(Self {
            layers: layers.collect::<Result<_>>()?,
            head: dense
                .map(|(number, it)| reader.head(number, it[0], it[1]))
                .collect::<Result<_>>()?,
        })
    }

    /// Returns the adapter in `cell`, parsed by [`EncoderAdapter::parse`] on first use.
    pub(super) fn load(
        cell: &'static OnceLock<Self>,
        config: &BertConfig,
        file: &'static [u8],
        rank: usize,
        head: &[usize],
    ) -> Result<&'static Self> {
        if let Some(adapter) = cell.get() {
            return Ok(adapter);
        }
        let adapter = Self::parse(file, config, rank, head)?;
        Ok(cell.get_or_init(|| adapter))
    }

    /// Returns the outputs for what the head reads, such as a mean of hidden states.
    pub(super) fn outputs(&self, read: &[f32]) -> Vec<f32> {
        let mut values = read.to_vec();
        for (number, layer) in self.head.iter().enumerate() {
            if number > 0 {
                gelu(&mut values);
            }
            values = layer.apply(&values);
        }
        values
    }
}

impl HeadLayer {
    fn apply(&self, values: &[f32]) -> Vec<f32> {
        let rows = self.weight.chunks_exact(values.len());
        rows.zip(&self.bias).map(|(row, bias)| dot(row, values) + bias).collect()
    }
}

struct AdapterReader<'a> {
    tensors: &'a TensorFile,
    config: &'a BertConfig,
    rank: usize,
}

impl AdapterReader<'_> {
    fn layer(&self, number: usize) -> Result<LayerAdapter> {
        let (width, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let delta = |part: &str, input, output| self.delta(number, part, input, output);
        Ok(LayerAdapter {
            query: delta("query", width, width)?,
            key: delta("key", width, width)?,
            value: delta("value", width, width)?,
            attention_output: delta("attention_output", width, width)?,
            up: delta("up", width, inner)?,
            down: delta("down", inner, width)?,
        })
    }

    fn head(&self, number: usize, input: usize, output: usize) -> Result<HeadLayer> {
        let name = |part: &str| format!("head.{number}.{part}");
        Ok(HeadLayer {
            weight: self.tensors.floats(&name("weight"), &[output, input])?,
            bias: self.tensors.floats(&name("bias"), &[output])?,
        })
    }

    fn delta(
        &self,
        number: usize,
        part: &str,
        input: usize,
        output: usize,
    ) -> Result<LowRankDelta> {
        let name = |matrix: &str| format!("layer.{number}.{part}.{matrix}");
        let weight = QuantizedMatrix::read(self.tensors, &name("narrow"), self.rank, input)?;
        Ok(LowRankDelta {
            narrow: LinearLayer::new(weight, vec![0.0; self.rank]),
            tall: self.tensors.floats(&name("tall"), &[self.rank, output])?,
        })
    }
}
