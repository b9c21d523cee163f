//! The table as `model/FORMAT.md` lays it out. Every number is read where it lies.

use super::Token;
use super::vector::DIM;

static BLOB: &[u8] = include_bytes!("model/cmse-base.bin");

/// Longest piece, in characters.
pub(super) const LONGEST_PIECE: usize = BLOB[9] as usize;
/// Score of a character that no piece holds.
pub(super) const UNKNOWN: f32 = f32::from_bits(word(16));

const SLOTS: u64 = 1 << BLOB[10];
const HAN_PAIRS: usize = word(20) as usize;
const HAN: usize = word(24) as usize;
const HASH: usize = word(28) as usize;
const SCORES: usize = word(32) as usize;
const SCALES: usize = word(36) as usize;
const ROWS: usize = word(40) as usize;

const fn word(at: usize) -> u32 {
    u32::from_le_bytes([BLOB[at], BLOB[at + 1], BLOB[at + 2], BLOB[at + 3]])
}

fn half(at: usize) -> u16 {
    u16::from_le_bytes([BLOB[at], BLOB[at + 1]])
}

/// The hash of a piece, which can be made longer character by character (FNV-1a, 64 bits).
#[derive(Debug, Clone, Copy)]
pub(super) struct Hash(u64);

impl Hash {
    pub(super) const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    pub(super) fn with(self, c: char) -> Self {
        let mut bytes = [0; 4];
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(c.encode_utf8(&mut bytes).bytes().fold(self.0, step))
    }

    /// The finalizer of `MurmurHash3`: the slots are the low bits, and FNV's are weak there.
    fn mixed(self) -> u64 {
        let mut hash = self.0;
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ (hash >> 33)
    }
}

/// The token of a piece.
pub(super) fn find(piece: Hash) -> Option<Token> {
    const TOKEN_BITS: u32 = 20;
    let hash = piece.mixed();
    let mut slot = hash & (SLOTS - 1);
    loop {
        let at = HASH + 8 * usize::try_from(slot).ok()?;
        let entry = u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if entry == 0 {
            return None;
        }
        if entry >> TOKEN_BITS == hash >> TOKEN_BITS {
            return u32::try_from((entry & ((1 << TOKEN_BITS) - 1)) - 1).ok();
        }
        slot = (slot + 1) & (SLOTS - 1);
    }
}

/// The logarithm of a token's probability.
pub(super) fn score(token: Token) -> f32 {
    f32::from(half(SCORES + 2 * token as usize).cast_signed()) / 1024.0
}

/// What a row's numbers are multiplied with.
pub(super) fn scale(token: Token) -> f32 {
    from_f16(half(SCALES + 2 * token as usize))
}

/// A row's numbers, from -8 to 7.
pub(super) fn row(token: Token) -> [i8; DIM] {
    let start = ROWS + token as usize * (DIM / 2);
    let mut row = [0; DIM];
    for (pair, byte) in row.chunks_exact_mut(2).zip(&BLOB[start..start + DIM / 2]) {
        pair[0] = (byte & 15).cast_signed() - 8;
        pair[1] = (byte >> 4).cast_signed() - 8;
    }
    row
}

/// Traditional Chinese and Japanese characters as their simplified forms.
pub(super) fn simplified(c: char) -> char {
    let Ok(wanted) = u16::try_from(u32::from(c)) else { return c };
    let (mut low, mut high) = (0, HAN_PAIRS);
    while low < high {
        let middle = usize::midpoint(low, high);
        match half(HAN + 4 * middle).cmp(&wanted) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => {
                return char::from_u32(u32::from(half(HAN + 4 * middle + 2))).unwrap_or(c);
            }
        }
    }
    c
}

/// IEEE 754 half precision; infinities and NaN do not occur in the table.
fn from_f16(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_that_of_the_format() {
        assert_eq!(&BLOB[..4], b"CMSE");
        assert_eq!((half(4), usize::from(half(6)), BLOB[8]), (1, DIM, 4));
        assert_eq!(word(48) as usize, BLOB.len());
        assert!(word(12) < 1 << 20);
    }

    #[test]
    fn the_content_is_whole() {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        let sum = BLOB[64..].iter().fold(Hash::EMPTY.0, step);
        assert_eq!(sum, u64::from(word(52)) | u64::from(word(56)) << 32);
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(BLOB).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert!(include_str!("model/SHA256SUMS").starts_with(&digest));
    }

    #[test]
    fn half_precision() {
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x3555, 0.333_251_95), (0x0001, 5.960_464_5e-8), (0, 0.0)]
        {
            assert_eq!(from_f16(bits), value);
        }
    }

    #[test]
    fn traditional_characters_are_simplified() {
        assert_eq!("記憶體錯誤".chars().map(simplified).collect::<String>(), "记忆体错误");
        assert_eq!(simplified('a'), 'a');
        assert_eq!(simplified('\u{20000}'), '\u{20000}');
    }
}
