//! Tokens and UTF-16 units that are left. Adds up exactly to what `model::estimate_tokens` says of the whole.

use std::ops::Add;

/// What a text costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// A quarter token for an ASCII character, a token for any other.
    quarters: usize,
    units: usize,
}

impl Cost {
    /// The cost of whole lines, their line ends included.
    pub(super) fn of(lines: &[String]) -> Self {
        lines.iter().fold(Self::default(), |sum, line| sum + Self::of_line(line))
    }

    fn of_line(line: &str) -> Self {
        let ascii = line.bytes().filter(u8::is_ascii).count();
        let other = line.chars().count() - ascii;
        Self { quarters: ascii + 1 + 4 * other, units: line.encode_utf16().count() + 1 }
    }

    /// A budget of so many tokens and UTF-16 units.
    pub(super) fn limit(tokens: usize, units: usize) -> Self {
        Self { quarters: tokens.saturating_mul(4), units }
    }

    /// Whether this fits into `limit`.
    pub(super) fn fits(self, limit: Self) -> bool {
        self.quarters <= limit.quarters && self.units <= limit.units
    }

    /// What is left of this limit after `used`.
    pub(super) fn minus(self, used: Self) -> Self {
        Self {
            quarters: self.quarters.saturating_sub(used.quarters),
            units: self.units.saturating_sub(used.units),
        }
    }

    /// Whole tokens of this limit.
    pub(super) fn tokens(self) -> usize {
        self.quarters / 4
    }

    /// The `share`th part of this limit.
    pub(super) fn part(self, share: usize) -> Self {
        Self { quarters: self.quarters / share, units: self.units / share }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { quarters: self.quarters + other.quarters, units: self.units + other.units }
    }
}
