//! Address of a memory in its scope: the session and the position in it.

/// Address of a memory in the index: its session's number and its position there.
///
/// Assigned once, never reused, kept across edits. The order of addresses is the order of talk within a session, which
/// makes neighbouring turns neighbours in the index. Memories outside a session have session 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocAddress(u64);

impl DocAddress {
    /// Creates the address of `position` in `session`.
    #[inline]
    pub fn new(session: u32, position: u32) -> Self {
        Self(u64::from(session) << 32 | u64::from(position))
    }

    /// Returns the session's number in its scope; 0 for memories outside a session.
    #[inline]
    pub fn session(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns the position in its session.
    #[inline]
    pub fn position(self) -> u32 {
        self.0 as u32
    }

    /// Returns the address `distance` after (or, if negative, before) this one in the same session. Memories outside a
    /// session have no neighbours.
    pub fn neighbour(self, distance: i32) -> Option<Self> {
        if self.session() == 0 {
            return None;
        }
        let position = (self.0 as u32).checked_add_signed(distance)?;
        Some(Self::new(self.session(), position))
    }

    /// Returns the address as one number, in the same order.
    #[inline]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Decodes a number from [`DocAddress::to_bits`].
    #[inline]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_stay_in_their_session() {
        let address = DocAddress::new(3, 1);
        assert_eq!(address.neighbour(1), Some(DocAddress::new(3, 2)));
        assert_eq!(address.neighbour(-1), Some(DocAddress::new(3, 0)));
        assert_eq!(address.neighbour(-2), None);
        assert_eq!(DocAddress::new(3, u32::MAX).neighbour(1), None);
        assert_eq!(DocAddress::new(0, 5).neighbour(1), None);
    }
}
