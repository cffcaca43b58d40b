//! What is counted, and how much of it was reached: integers and basis points, no floating point.

use std::fmt;

/// What coverage counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Lines with code.
    Lines,
    /// Ways out of a decision.
    Branches,
    /// Functions.
    Functions,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lines => "lines",
            Self::Branches => "branches",
            Self::Functions => "functions",
        })
    }
}

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ratio {
    /// How many were reached.
    pub hit: u64,
    /// How many there are.
    pub found: u64,
}

impl Ratio {
    /// The share in basis points (hundredths of a percent), rounded down; `None` of nothing.
    pub fn basis_points(self) -> Option<u32> {
        let points = (u128::from(self.hit) * 10_000).checked_div(u128::from(self.found))?;
        u32::try_from(points).ok()
    }

    /// Whether the share is at least `minimum` basis points; of nothing it is not.
    pub fn is_at_least(self, minimum: u32) -> bool {
        self.found > 0
            && u128::from(self.hit) * 10_000 >= u128::from(minimum) * u128::from(self.found)
    }

    /// Whether the share is smaller than that of `base` by more than `allowed` basis points.
    pub fn falls_below(self, base: Self, allowed: u32) -> bool {
        // hit/found + allowed/10000 < base.hit/base.found, over common denominators.
        let (found, base_found) = (u128::from(self.found), u128::from(base.found));
        let here = (u128::from(self.hit) * 10_000 + u128::from(allowed) * found) * base_found;
        here < u128::from(base.hit) * 10_000 * found
    }
}

impl std::ops::Add for Ratio {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { hit: self.hit + other.hit, found: self.found + other.found }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.basis_points() {
            Some(points) => {
                let (hit, found) = (self.hit, self.found);
                write!(f, "{}.{:02} % ({hit}/{found})", points / 100, points % 100)
            }
            None => f.write_str("nothing to cover"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ratio;

    #[test]
    fn limits_are_met_exactly_and_nothing_meets_none() {
        let two_thirds = Ratio { hit: 2, found: 3 };
        assert_eq!(two_thirds.basis_points(), Some(6_666));
        assert!(two_thirds.is_at_least(6_666) && !two_thirds.is_at_least(6_667));
        assert!(Ratio { hit: 4, found: 5 }.is_at_least(8_000));
        assert!(!Ratio { hit: 7_999, found: 10_000 }.is_at_least(8_000));
        assert!(!Ratio::default().is_at_least(0));
        assert_eq!(two_thirds.to_string(), "66.66 % (2/3)");
    }

    #[test]
    fn fall_is_exact_and_may_be_allowed() {
        let base = Ratio { hit: 2, found: 3 };
        assert!(!Ratio { hit: 4, found: 6 }.falls_below(base, 0));
        assert!(Ratio { hit: 666, found: 1_000 }.falls_below(base, 0));
        assert!(!Ratio { hit: 666, found: 1_000 }.falls_below(base, 7));
        assert!(!Ratio { hit: 0, found: 0 }.falls_below(Ratio::default(), 0));
        let huge = Ratio { hit: u64::from(u32::MAX), found: u64::from(u32::MAX) };
        assert!(!huge.falls_below(huge, 0));
    }
}
