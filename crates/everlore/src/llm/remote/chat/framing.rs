//! Streams taken apart: bytes into lines, lines into the data of server-sent events.

/// A line beyond this is no answer of a model: the longest are calls of tools with a whole file in them.
const MAX_FRAME_BYTES: usize = 8 << 20;

/// How a stream is made of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// A value a line.
    Lines,
    /// One value, whole: from servers that were asked to stream and do not.
    Whole,
}

/// Puts together what the network took apart.
#[derive(Debug)]
pub struct FrameDecoder {
    framing: Framing,
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed after it ends no second line.
    after_return: bool,
    data: String,
}

/// A line or an event that is longer than any answer has.
#[derive(Debug, PartialEq, Eq)]
pub struct FrameTooLong;

impl FrameDecoder {
    /// For a stream that is made so.
    pub fn new(framing: Framing) -> Self {
        Self { framing, line: Vec::new(), after_return: false, data: String::new() }
    }

    /// The values that are whole with these bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, FrameTooLong> {
        let (mut whole, mut rest) = (Vec::new(), bytes);
        while let Some(end) = self.line_end(rest) {
            let (part, after) = (&rest[..end], &rest[end + 1..]);
            let second = rest[end] == b'\n' && self.after_return && end == 0;
            self.after_return = rest[end] == b'\r';
            rest = after;
            if !second {
                self.line.extend_from_slice(part);
                whole.extend(self.end_line());
            }
        }
        if !rest.is_empty() {
            self.line.extend_from_slice(rest);
            self.after_return = false;
        }
        let kept = self.line.len() + self.data.len();
        if kept > MAX_FRAME_BYTES { Err(FrameTooLong) } else { Ok(whole) }
    }

    fn line_end(&self, bytes: &[u8]) -> Option<usize> {
        let lines = self.framing != Framing::Whole;
        lines.then(|| bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))).flatten()
    }

    /// What was not ended when the stream was: servers forget the last line's end.
    pub fn finish(&mut self) -> Option<String> {
        let last = self.end_line();
        last.or_else(|| self.take_data())
    }

    fn end_line(&mut self) -> Option<String> {
        // Lines end at single bytes, so no character is ever split here.
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_start_matches('\u{feff}');
        match self.framing {
            Framing::Lines | Framing::Whole => (!line.trim().is_empty()).then(|| line.to_owned()),
            Framing::Events if line.is_empty() => self.take_data(),
            Framing::Events => {
                self.push_field(line);
                None
            }
        }
    }

    /// Only the data of an event is of use: each value says itself what it is.
    fn push_field(&mut self, line: &str) {
        let data = match line.strip_prefix("data:") {
            Some(data) => data.strip_prefix(' ').unwrap_or(data),
            // Some gateways put an error into a stream as it is.
            None if line.starts_with('{') => line,
            None => return,
        };
        if !self.data.is_empty() {
            self.data.push('\n');
        }
        self.data.push_str(data);
    }

    fn take_data(&mut self) -> Option<String> {
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then_some(data)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode_all(framing: Framing, chunks: &[&[u8]]) -> Vec<String> {
        let mut splitter = FrameDecoder::new(framing);
        let mut whole: Vec<String> =
            chunks.iter().flat_map(|chunk| splitter.feed(chunk).unwrap()).collect();
        whole.extend(splitter.finish());
        whole
    }

    const STREAM: &str = "\u{feff}: hello\r\nevent: message\r\nid: 7\r\ndata: {\"text\":\"茶很香\"}\r\n\r\n\
        :ping\n\ndata: one\ndata:two\n\nretry: 10\rdata: three\r\rdata\n\ndata: [DONE]";

    #[test]
    fn events_are_found_whatever_ends_their_lines() {
        let expected = ["{\"text\":\"茶很香\"}", "one\ntwo", "three", "[DONE]"];
        assert_eq!(decode_all(Framing::Events, &[STREAM.as_bytes()]), expected);
    }

    proptest! {
        #[test]
        fn a_stream_says_the_same_wherever_it_is_cut(cuts in proptest::collection::vec(0..STREAM.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> =
                cuts.windows(2).map(|pair| &STREAM.as_bytes()[pair[0]..pair[1]]).collect();
            prop_assert_eq!(decode_all(Framing::Events, &chunks), decode_all(Framing::Events, &[STREAM.as_bytes()]));
        }
    }

    #[test]
    fn lines_of_json_may_have_gaps_and_no_last_end() {
        let stream = "{\"a\":1}\n\n{\"b\":\"好\"}\r\n{\"c\":3}";
        assert_eq!(
            decode_all(Framing::Lines, &[stream.as_bytes()]),
            ["{\"a\":1}", "{\"b\":\"好\"}", "{\"c\":3}"]
        );
    }

    #[test]
    fn a_whole_value_may_have_many_lines() {
        assert_eq!(decode_all(Framing::Whole, &[b"{\n \"a\": ", b"1\n}\n"]), ["{\n \"a\": 1\n}\n"]);
    }

    #[test]
    fn an_error_that_a_gateway_put_into_the_stream_is_read() {
        assert_eq!(decode_all(Framing::Events, &[b"{\"error\":\"no\"}\n"]), ["{\"error\":\"no\"}"]);
    }

    #[test]
    fn a_line_without_end_is_given_up() {
        let mut splitter = FrameDecoder::new(Framing::Events);
        let mut fed = 0;
        while splitter.feed(&[b'x'; 1 << 20]).is_ok() {
            fed += 1;
            assert!(fed <= 8, "a line of {fed} MB was kept");
        }
        let mut splitter = FrameDecoder::new(Framing::Events);
        let line = [b"data:".as_slice(), &[b'x'; 1 << 20], b"\n"].concat();
        let endless = (0..20).find_map(|_| splitter.feed(&line).err());
        assert_eq!(endless, Some(FrameTooLong), "many lines of one event are bounded too");
    }
}
