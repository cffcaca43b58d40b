//! Numbers that look random and are the same for the same seed.

/// A stream of them.
pub(super) struct Chance(u64);

impl Chance {
    /// The stream of a seed.
    pub(super) fn new(seed: usize) -> Self {
        let mut stream = Self(seed as u64 ^ 0x9e37_79b9_7f4a_7c15);
        stream.next();
        stream
    }

    /// A number below `limit`, which is not zero.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// One of `choices`, which is not empty.
    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap_or(0)]
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
