//! Stream framing: splits bytes into lines, and lines into the data of server-sent events.

/// Largest accepted frame. The longest real ones are tool calls with a whole file in them.
const MAX_FRAME_BYTES: usize = 8 << 20;

/// Framing of a response stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// NDJSON: one value per line.
    Lines,
    /// One whole value: from servers that ignore the request to stream.
    Whole,
}

/// Incremental decoder from bytes to frames.
#[derive(Debug)]
pub struct FrameDecoder {
    framing: Framing,
    line: Vec<u8>,
    /// Set if the last byte was a carriage return: a line feed after it ends no second line.
    after_return: bool,
    data: String,
}

/// Error for a frame beyond 8 MiB.
#[derive(Debug, PartialEq, Eq)]
pub struct FrameTooLong;

impl FrameDecoder {
    /// Creates a decoder.
    pub fn new(framing: Framing) -> Self {
        Self { framing, line: Vec::new(), after_return: false, data: String::new() }
    }

    /// Feeds bytes and returns the frames that they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, FrameTooLong> {
        let (mut frames, mut rest) = (Vec::new(), bytes);
        while let Some(end) = self.line_end(rest) {
            let (part, after) = (&rest[..end], &rest[end + 1..]);
            let second = rest[end] == b'\n' && self.after_return && end == 0;
            self.after_return = rest[end] == b'\r';
            rest = after;
            if !second {
                self.line.extend_from_slice(part);
                frames.extend(self.end_line());
            }
        }
        if !rest.is_empty() {
            self.line.extend_from_slice(rest);
            self.after_return = false;
        }
        let buffered = self.line.len() + self.data.len();
        if buffered > MAX_FRAME_BYTES { Err(FrameTooLong) } else { Ok(frames) }
    }

    fn line_end(&self, bytes: &[u8]) -> Option<usize> {
        let lines = self.framing != Framing::Whole;
        lines.then(|| bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))).flatten()
    }

    /// Returns the unterminated last frame at the end of the stream: some servers omit the last line end.
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

    /// Adds a line of an event. Only `data` fields matter: each value carries its own type.
    fn push_field(&mut self, line: &str) {
        let data = match line.strip_prefix("data:") {
            Some(data) => data.strip_prefix(' ').unwrap_or(data),
            // Some gateways put an error into a stream as bare JSON.
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
        let mut decoder = FrameDecoder::new(framing);
        let mut frames: Vec<String> =
            chunks.iter().flat_map(|chunk| decoder.feed(chunk).unwrap()).collect();
        frames.extend(decoder.finish());
        frames
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
        let mut decoder = FrameDecoder::new(Framing::Events);
        let mut fed = 0;
        while decoder.feed(&[b'x'; 1 << 20]).is_ok() {
            fed += 1;
            assert!(fed <= 8, "a line of {fed} MB was kept");
        }
        let mut decoder = FrameDecoder::new(Framing::Events);
        let line = [b"data:".as_slice(), &[b'x'; 1 << 20], b"\n"].concat();
        let endless = (0..20).find_map(|_| decoder.feed(&line).err());
        assert_eq!(endless, Some(FrameTooLong), "many lines of one event are bounded too");
    }
}
