//! Size of the pages of an export: by bytes, not by rows alone, since a reader may keep a page waiting for minutes.

/// Bytes that a page should have; a row may be larger.
const PAGE_BYTES: usize = 1024 * 1024;

/// Rows of a page, however short they are: the next may all be of the largest size.
const MAX_ROWS: usize = 64;

/// Rows of the first page, before any size is known.
const FIRST_ROWS: usize = 4;

/// Number of rows that the next page may have.
#[derive(Debug)]
pub(super) struct PageSize {
    rows: usize,
    /// Rows of the current page so far.
    counted: usize,
    /// Bytes of the current page so far.
    bytes: usize,
}

impl Default for PageSize {
    fn default() -> Self {
        Self { rows: FIRST_ROWS, counted: 0, bytes: 0 }
    }
}

impl PageSize {
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Counts a row of the current page.
    pub(super) fn count(&mut self, bytes: usize) {
        self.counted += 1;
        self.bytes += bytes;
    }

    /// Ends a page and returns the rows of the next: as many as fit if they are like these, and twice as many at most.
    pub(super) fn next_rows(&mut self) -> usize {
        let row_bytes = self.bytes / self.counted.max(1);
        let fitting = PAGE_BYTES / row_bytes.max(1);
        self.rows = fitting.clamp(1, MAX_ROWS.min(self.rows * 2));
        (self.counted, self.bytes) = (0, 0);
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_pages(row_bytes: usize, pages: usize) -> usize {
        let mut size = PageSize::default();
        for _ in 0..pages {
            for _ in 0..size.rows() {
                size.count(row_bytes);
            }
            size.next_rows();
        }
        size.rows()
    }

    #[test]
    fn pages_of_short_rows_grow_to_the_most_rows() {
        assert_eq!(after_pages(0, 0), FIRST_ROWS);
        assert_eq!(after_pages(200, 1), FIRST_ROWS * 2);
        assert_eq!(after_pages(200, 9), MAX_ROWS);
    }

    #[test]
    fn pages_of_long_rows_have_few() {
        assert_eq!(after_pages(PAGE_BYTES / 10, 9), 10);
        assert_eq!(after_pages(4 * PAGE_BYTES, 1), 1);
    }
}
