//! What becomes of the read of a file that memories are about.

/// The choices of `CMEM_READ_GATE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadGate {
    /// Told beside the read of a small file; a large one is held back once.
    Auto,
    /// Held back once.
    Block,
    /// Told beside it.
    Hint,
    /// Nothing is told.
    Off,
}

/// A read costs more than a second attempt from here on, in bytes.
const LARGE: u64 = 24 * 1024;

impl ReadGate {
    pub(super) const NAMES: &'static [&'static str] = &["auto", "block", "hint", "off"];

    pub(super) fn from_name(name: &str) -> Self {
        match name {
            "block" => Self::Block,
            "hint" => Self::Hint,
            "off" => Self::Off,
            _ => Self::Auto,
        }
    }

    /// Whether the read of a file of so many bytes is held back.
    pub fn blocks(self, bytes: u64) -> bool {
        match self {
            Self::Auto => bytes >= LARGE,
            Self::Block => true,
            Self::Hint | Self::Off => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_is_held_back_unless_chosen_otherwise() {
        let blocks = |name: &str| [0, LARGE - 1, LARGE].map(|bytes| ReadGate::from_name(name).blocks(bytes));
        assert_eq!(blocks("auto"), [false, false, true]);
        assert_eq!(blocks("block"), [true; 3]);
        assert_eq!(blocks("hint"), [false; 3]);
        assert_eq!(blocks("off"), [false; 3]);
    }
}
