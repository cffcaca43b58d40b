//! Files of the home beside the database: folders, their durability, and where they lie.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::OpenError;

/// Name of the database within the home.
pub(crate) const STORE: &str = "store.db";

/// Makes the names in `dir` durable.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    fail::fail_point!("store.folder.before_sync");
    File::open(dir)?.sync_all()?;
    fail::fail_point!("store.folder.after_sync");
    Ok(())
}

/// The file beside the database whose name ends in `suffix`.
pub(crate) fn companion(home: &Path, suffix: &str) -> PathBuf {
    home.join(format!("{STORE}{suffix}"))
}

/// The newest backup, by name: they carry their turn.
pub(crate) fn newest_backup(home: &Path) -> Option<PathBuf> {
    crate::backup::backups(home).into_iter().next()
}

/// Refuses a home on a network file system: neither locks nor syncs can be trusted there.
pub(crate) fn check_local(home: &Path) -> Result<(), OpenError> {
    let stat = rustix::fs::statfs(home).map_err(|error| OpenError::File {
        doing: "ask for the file system of",
        path: home.to_owned(),
        source: error.into(),
    })?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the magic has 32 bits; its type differs between architectures"
    )]
    let magic = stat.f_type as u32;
    match network_name(magic) {
        None => Ok(()),
        Some(kind) => Err(OpenError::NetworkFileSystem { home: home.to_owned(), kind }),
    }
}

/// The name of a file system that is served from elsewhere, by the magic of `statfs(2)`.
fn network_name(magic: u32) -> Option<&'static str> {
    const NETWORK: [(u32, &str); 13] = [
        (0x0000_6969, "nfs"),
        (0x0000_517b, "smb"),
        (0xfe53_4d42, "smb2"),
        (0xff53_4d42, "cifs"),
        (0x0102_1997, "9p"),
        (0x5346_414f, "afs"),
        (0x6b41_4653, "afs"),
        (0x7375_7245, "coda"),
        (0x00c3_6400, "ceph"),
        (0x0bd0_0bd0, "lustre"),
        (0x0116_1970, "gfs2"),
        (0x7461_636f, "ocfs2"),
        (0x4750_4653, "gpfs"),
    ];
    NETWORK.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::network_name;

    #[test]
    fn file_system_magic_tells_network_from_local() {
        assert_eq!(network_name(0x6969), Some("nfs"));
        assert_eq!(network_name(0xff53_4d42), Some("cifs"));
        for local in [0xef53, 0x0102_1994, 0x5846_5342, 0x9123_683e, 0x794c_7630] {
            assert_eq!(network_name(local), None, "{local:x}");
        }
    }
}
