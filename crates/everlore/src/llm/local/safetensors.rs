//! Reader and writer for the safetensors format: eight bytes of header length, a JSON header, the data.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use everlore_kernel::{read_bf16s, read_f16s, read_f32s, read_i8s};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Largest accepted header. No header of a real model comes near it.
const MAX_HEADER: u64 = 100 << 20;

/// Header key that names no tensor.
const METADATA: &str = "__metadata__";

/// Parsed tensor file.
pub(super) struct TensorFile {
    entries: BTreeMap<String, TensorInfo>,
    data: Cow<'static, [u8]>,
}

/// Data type, shape and byte range of a tensor.
#[derive(Serialize, Deserialize)]
struct TensorInfo {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl TensorFile {
    /// Parses a file and checks every range against the data, so that later reads cannot go out of bounds.
    pub(super) fn parse(file: Cow<'static, [u8]>) -> Result<Self> {
        let header = header_range(&file)?;
        let text = &file[header.clone()];
        let mut fields: BTreeMap<String, serde_json::Value> = serde_json::from_slice(text)
            .map_err(|error| damaged_file(&format!("its header: {error}")))?;
        fields.remove(METADATA);
        let entry = |(name, value)| match serde_json::from_value(value) {
            Ok(entry) => Ok((name, entry)),
            Err(error) => Err(damaged_file(&format!("tensor `{name}`: {error}"))),
        };
        let entries = fields.into_iter().map(entry).collect::<Result<BTreeMap<_, TensorInfo>>>()?;
        let data = match file {
            Cow::Borrowed(file) => Cow::Borrowed(&file[header.end..]),
            Cow::Owned(mut file) => Cow::Owned(file.split_off(header.end)),
        };
        match entries.iter().find(|(_, entry)| !entry.fits(data.len())) {
            Some((name, _)) => Err(damaged_file(&format!("the offsets of tensor `{name}`"))),
            None => Ok(Self { entries, data }),
        }
    }

    /// Returns `true` if the file has a tensor of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Reads a tensor of floats.
    pub(super) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let (dtype, bytes) = self.find(name, shape)?;
        match dtype {
            "F32" => Ok(read_f32s(bytes)),
            "F16" => Ok(read_f16s(bytes)),
            "BF16" => Ok(read_bf16s(bytes)),
            other => Err(unusable_tensor(name, &format!("holds {other}, and not floats"))),
        }
    }

    /// Reads a tensor of 8-bit integers.
    pub(super) fn bytes(&self, name: &str, shape: &[usize]) -> Result<Vec<i8>> {
        match self.find(name, shape)? {
            ("I8", bytes) => Ok(read_i8s(bytes)),
            (other, _) => {
                Err(unusable_tensor(name, &format!("holds {other}, and not 8-bit integers")))
            }
        }
    }

    /// Returns a tensor of packed bytes, without a copy if the file is compiled in.
    pub(super) fn packed(&self, name: &str, shape: &[usize]) -> Result<Cow<'static, [u8]>> {
        let (dtype, bytes) = self.find(name, shape)?;
        if dtype != "U8" {
            return Err(unusable_tensor(name, &format!("holds {dtype}, and not bytes")));
        }
        let range = self.entries[name].range();
        Ok(match &self.data {
            Cow::Borrowed(data) => Cow::Borrowed(&data[range]),
            Cow::Owned(_) => Cow::Owned(bytes.to_vec()),
        })
    }

    fn find(&self, name: &str, shape: &[usize]) -> Result<(&str, &[u8])> {
        let Some(entry) = self.entries.get(name) else {
            return Err(Error::invalid(
                format!("the model has no tensor `{name}`"),
                "point at a folder with a BERT encoder, such as all-MiniLM-L6-v2",
            ));
        };
        if entry.shape != shape {
            let (has, wants) = (&entry.shape, shape);
            return Err(unusable_tensor(
                name,
                &format!("has the shape {has:?}, and not {wants:?}"),
            ));
        }
        Ok((&entry.dtype, &self.data[entry.range()]))
    }
}

impl TensorInfo {
    fn range(&self) -> Range<usize> {
        self.data_offsets.0..self.data_offsets.1
    }

    /// Returns `true` if the range lies within the data and is as long as the shape requires.
    fn fits(&self, length: usize) -> bool {
        let width = match self.dtype.as_str() {
            "F64" | "I64" | "U64" => 8,
            "F32" | "I32" | "U32" => 4,
            "F16" | "BF16" | "I16" | "U16" => 2,
            _ => 1,
        };
        let count =
            self.shape.iter().try_fold(width, |count: usize, size| count.checked_mul(*size));
        let (start, end) = self.data_offsets;
        start <= end && end <= length && count == Some(end - start)
    }
}

/// Writer for tensors of 8-bit integers and floats.
#[derive(Default)]
pub(super) struct TensorWriter {
    entries: BTreeMap<String, TensorInfo>,
    data: Vec<u8>,
}

impl TensorWriter {
    pub(super) fn floats(&mut self, name: &str, shape: &[usize], numbers: &[f32]) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.add(name, "F32", shape, &bytes);
    }

    pub(super) fn bytes(&mut self, name: &str, shape: &[usize], numbers: &[i8]) {
        let bytes: Vec<u8> = numbers.iter().map(|number| number.cast_unsigned()).collect();
        self.add(name, "I8", shape, &bytes);
    }

    fn add(&mut self, name: &str, dtype: &str, shape: &[usize], bytes: &[u8]) {
        let start = self.data.len();
        self.data.extend(bytes);
        let (dtype, shape) = (dtype.to_owned(), shape.to_vec());
        let entry = TensorInfo { dtype, shape, data_offsets: (start, self.data.len()) };
        self.entries.insert(name.to_owned(), entry);
    }

    /// Returns the complete file.
    pub(super) fn finish(self) -> Result<Vec<u8>> {
        let mut header = serde_json::to_vec(&self.entries).map_err(Error::store)?;
        // Aligns the data to eight bytes.
        header.resize(header.len().next_multiple_of(8), b' ');
        let length = (header.len() as u64).to_le_bytes();
        Ok([&length[..], &header, &self.data].concat())
    }
}

/// Returns the byte range of the header.
fn header_range(file: &[u8]) -> Result<Range<usize>> {
    let length = file.first_chunk().map(|length| u64::from_le_bytes(*length));
    match length {
        Some(length) if length <= MAX_HEADER && length as usize + 8 <= file.len() => {
            Ok(8..8 + length as usize)
        }
        _ => Err(damaged_file("it ends before its header does")),
    }
}

fn damaged_file(problem: &str) -> Error {
    Error::invalid(
        format!("the model's file cannot be read: {problem}"),
        "it must be in the safetensors format; fetch it again if it was cut off",
    )
}

fn unusable_tensor(name: &str, why: &str) -> Error {
    Error::invalid(
        format!("tensor `{name}` of the model {why}"),
        "the files of the folder must belong together; fetch the model again",
    )
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn file() -> Vec<u8> {
        let mut writer = TensorWriter::default();
        writer.floats("real", &[2, 1], &[1.5, -2.0]);
        writer.bytes("small", &[3], &[-1, 0, 7]);
        writer.finish().unwrap()
    }

    fn refusal(file: &[u8]) -> String {
        match TensorFile::parse(file.to_vec().into()) {
            Ok(_) => panic!("it was read"),
            Err(error) => error.to_string(),
        }
    }

    /// Builds a file with this header and four bytes of data.
    fn with_header(header: &str) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0, 60, 0, 192]].concat()
    }

    #[test]
    fn what_was_written_is_read() {
        let tensors = TensorFile::parse(file().into()).unwrap();
        assert_eq!(tensors.floats("real", &[2, 1]).unwrap(), [1.5, -2.0]);
        assert_eq!(tensors.bytes("small", &[3]).unwrap(), [-1, 0, 7]);
        assert!(tensors.has("real") && !tensors.has("unreal"));
    }

    #[test]
    fn halves_are_read_in_both_formats() {
        let half =
            r#"{"__metadata__":{"a":"b"},"x":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}"#;
        let tensors = TensorFile::parse(with_header(half).into()).unwrap();
        assert_eq!(tensors.floats("x", &[2]).unwrap(), [1.0, -2.0]);
        let brain = TensorFile::parse(with_header(&half.replace("F16", "BF16")).into()).unwrap();
        assert_eq!(brain.floats("x", &[2]).unwrap(), [f32::from_bits(0x3c00_0000), -2.0]);
    }

    #[test]
    fn what_does_not_fit_is_refused_in_plain_words() {
        let tensors = TensorFile::parse(file().into()).unwrap();
        let error = |result: Result<Vec<f32>>| result.unwrap_err().to_string();
        assert!(error(tensors.floats("none", &[1])).contains("no tensor `none`"));
        assert!(error(tensors.floats("real", &[3])).contains("the shape [2, 1], and not [3]"));
        assert!(error(tensors.floats("small", &[3])).contains("holds I8"));
        assert!(tensors.bytes("real", &[2, 1]).unwrap_err().to_string().contains("holds F32"));
        assert!(refusal(b"short").contains("ends before"));
        assert!(refusal(&with_header("not json")).contains("its header"));
        for (shape, end) in [("[2]", 8), ("[1]", 4), ("[4611686018427387905,4]", 4)] {
            let header =
                format!(r#"{{"x":{{"dtype":"F16","shape":{shape},"data_offsets":[0,{end}]}}}}"#);
            assert!(
                refusal(&with_header(&header)).contains("the offsets of tensor `x`"),
                "{header}"
            );
        }
    }

    proptest! {
        #[test]
        fn damage_never_panics(at in 0..200usize, byte in any::<u8>(), cut in 0..200usize, noise in vec(any::<u8>(), 0..40)) {
            let mut file = file();
            let index = at % file.len();
            file[index] = byte;
            let cut = cut % file.len();
            let _ = TensorFile::parse(file[..cut].to_vec().into());
            let _ = TensorFile::parse(file.into());
            let _ = TensorFile::parse(noise.into());
        }
    }
}
