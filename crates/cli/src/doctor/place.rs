//! The file system that a home is on.

use std::path::Path;

use super::Check;

/// Free space below which a daemon stops taking work soon, in bytes.
const ROOM_WARNING: u64 = 512 << 20;
/// Free space below which it is as good as full, in bytes.
const ROOM_WRONG: u64 = 16 << 20;
/// Free names of files, likewise.
const NAMES_WARNING: u64 = 10_000;

/// How well a kind of file system keeps what is written to it.
enum Kind {
    Good(&'static str),
    Odd(&'static str, &'static str),
    Bad(&'static str, &'static str),
    Unknown,
}

pub(super) fn checks(home: &Path) -> Vec<Check> {
    let existing = home.ancestors().find(|path| path.exists()).unwrap_or(home);
    vec![file_system(home, existing), room(existing), mode(home)]
}

/// Locks, syncs, hard links and space that is kept back must be real.
fn file_system(home: &Path, existing: &Path) -> Check {
    let found = match rustix::fs::statfs(existing) {
        Ok(found) => found,
        Err(error) => return Check::wrong("place", format!("{}: {error}", existing.display())),
    };
    let what = || home.display().to_string();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the magic has 32 bits; its type differs between architectures"
    )]
    let magic = found.f_type as u32;
    match kind(magic) {
        Kind::Good(name) => Check::good("place", format!("{} on {name}", what())),
        Kind::Odd(name, why) => Check::odd("place", format!("{} on {name}: {why}", what()))
            .then("choose another place by TIDEGATE_HOME if that matters"),
        Kind::Bad(name, why) => Check::wrong("place", format!("{} on {name}: {why}", what()))
            .then("set TIDEGATE_HOME to a folder on a local ext4, xfs or btrfs"),
        Kind::Unknown => Check::odd(
            "place",
            format!("{} on a file system that is not known to Tidegate", what()),
        )
        .then("see that it supports hard links, fsync and POSIX locks"),
    }
}

/// By the magic of `statfs(2)`.
fn kind(magic: u32) -> Kind {
    const NETWORK: &str = "neither locks nor syncs can be trusted over a network";
    const NO_LINKS: &str = "it has no hard links, which make a start happen once";
    match magic {
        0xef53 => Kind::Good("ext4"),
        0x5846_5342 => Kind::Good("xfs"),
        0x9123_683e => Kind::Good("btrfs"),
        0xf2f5_2010 => Kind::Good("f2fs"),
        0x2fc1_2fc1 => Kind::Good("zfs"),
        0xca45_1a4e => Kind::Good("bcachefs"),
        0x794c_7630 => Kind::Odd("overlayfs", "it is as durable as what lies below"),
        0x0102_1994 => Kind::Odd("tmpfs", "all of it is gone after a restart of the machine"),
        0x6573_5546 => Kind::Odd("fuse", "its syncs are as good as the program behind it"),
        0x6969 => Kind::Bad("nfs", NETWORK),
        0x517b | 0xfe53_4d42 | 0xff53_4d42 => Kind::Bad("smb", NETWORK),
        0x0102_1997 => Kind::Bad("9p", NETWORK),
        0x5346_414f | 0x6b41_4653 => Kind::Bad("afs", NETWORK),
        0x7375_7245 => Kind::Bad("coda", NETWORK),
        0x00c3_6400 => Kind::Bad("ceph", NETWORK),
        0x0bd0_0bd0 => Kind::Bad("lustre", NETWORK),
        0x0116_1970 => Kind::Bad("gfs2", NETWORK),
        0x7461_636f => Kind::Bad("ocfs2", NETWORK),
        0x4750_4653 => Kind::Bad("gpfs", NETWORK),
        0x4d44 => Kind::Bad("vfat", NO_LINKS),
        0x2011_bab0 => Kind::Bad("exfat", NO_LINKS),
        _ => Kind::Unknown,
    }
}

fn room(existing: &Path) -> Check {
    let found = match rustix::fs::statvfs(existing) {
        Ok(found) => found,
        Err(error) => return Check::wrong("room", format!("{}: {error}", existing.display())),
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let told = format!("{} MiB free", free >> 20);
    let todo = "make room, or move the home: with a full disk nothing new starts";
    if found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
        return Check::odd("room", "mounted read-only: readers work, a daemon does not")
            .then("mount it for writing before the daemon is started");
    }
    if free < ROOM_WRONG {
        return Check::wrong("room", told).then(todo);
    }
    if free < ROOM_WARNING {
        return Check::odd("room", told).then(todo);
    }
    // A file system without a fixed number of files says 0 of 0.
    if found.f_files > 0 && found.f_favail < NAMES_WARNING {
        return Check::odd("room", format!("{} files may be made", found.f_favail)).then(todo);
    }
    Check::good("room", told)
}

fn mode(home: &Path) -> Check {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata(home) {
        Ok(meta) if meta.permissions().mode().trailing_zeros() >= 6 => {
            Check::good("mode", "private")
        }
        Ok(_) => Check::odd("mode", format!("others may look into {}", home.display()))
            .then(format!("chmod 700 {}", home.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Check::good("mode", "the home is not made yet")
        }
        Err(error) => Check::wrong("mode", error.to_string()),
    }
}
