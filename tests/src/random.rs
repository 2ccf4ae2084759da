//! A random number generator with a repeatable seed.

/// SplitMix64: small, and the same everywhere.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Begins the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws a number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_number() % bound
    }

    /// Draws a place in something of this length, which is not zero.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// Draws one of these.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        (!items.is_empty()).then(|| &items[self.index(items.len())])
    }

    /// Draws so many bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length.div_ceil(8))
            .flat_map(|_| self.next_number().to_le_bytes())
            .take(length)
            .collect()
    }

    /// Begins another sequence that does not disturb this one.
    pub fn fork(&mut self) -> Self {
        Self(self.next_number())
    }
}
