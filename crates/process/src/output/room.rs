//! How much output may still be stored: what the disk has beyond a reserve that is not a job's.
//!
//! A full disk must leave room for what cannot be lost: the store's last records, exits of other
//! jobs. Output of one job is not worth that. It knows sizes, not files.

use std::os::fd::AsFd;

/// Bytes that may be written at most before the disk is asked again.
const ASK_EVERY: u64 = 1 << 20;
/// The share of what is free that one job takes before it asks again: others write as well.
const SHARE: u64 = 16;

/// What one job may still write.
#[derive(Debug)]
pub(super) struct Room {
    reserve: u64,
    granted: u64,
}

impl Room {
    /// Everything beyond `reserve` bytes.
    pub(super) fn beyond(reserve: u64) -> Self {
        Self { reserve, granted: 0 }
    }

    /// How many of `wanted` bytes may be written now to the disk that `file` is on.
    pub(super) fn take(&mut self, file: impl AsFd, wanted: usize) -> usize {
        if self.reserve == 0 {
            return wanted;
        }
        let want = wanted as u64;
        if self.granted < want {
            self.granted = match rustix::fs::fstatvfs(file) {
                Ok(stat) => {
                    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
                    granted(free.saturating_sub(self.reserve), want)
                }
                // A disk that says nothing is written to until it refuses.
                Err(_) => want,
            };
        }
        let taken = self.granted.min(want);
        self.granted -= taken;
        usize::try_from(taken).unwrap_or(wanted)
    }
}

/// What may be written until the disk is asked again, of `spare` bytes, when `want` are there now.
fn granted(spare: u64, want: u64) -> u64 {
    (spare / SHARE).min(ASK_EVERY).max(want.min(spare))
}

#[cfg(test)]
mod tests {
    use super::granted;

    #[test]
    fn grant_never_exceeds_what_is_spare_and_is_asked_for_again_in_time() {
        assert_eq!(granted(0, 100), 0);
        assert_eq!(granted(40, 100), 40);
        assert_eq!(granted(1_000, 100), 100);
        assert_eq!(granted(16_000, 100), 1_000);
        assert_eq!(granted(1 << 40, 100), 1 << 20);
    }
}
