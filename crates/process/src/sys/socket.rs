//! Who is at the other end of a unix socket.
#![expect(unsafe_code, reason = "SO_PEERPIDFD has no safe wrapper")]

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Socket option of kernel 6.5 and newer.
const SO_PEERPIDFD: libc::c_int = 77;

/// A descriptor of the process that connected; `None` on older kernels or when it is gone.
pub(crate) fn peer_pidfd(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    let mut fd: libc::c_int = -1;
    let mut size = libc::socklen_t::try_from(std::mem::size_of::<libc::c_int>()).ok()?;
    // SAFETY: value and size are ours and of the type that this option writes.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PEERPIDFD,
            (&raw mut fd).cast(),
            &raw mut size,
        )
    };
    if done != 0 || fd < 0 {
        return None;
    }
    // SAFETY: the kernel just gave us this descriptor, nobody else owns it.
    Some(unsafe { OwnedFd::from_raw_fd(fd) })
}
