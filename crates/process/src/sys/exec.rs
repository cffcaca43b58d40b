//! `execve` on a prepared argv and environment, along a list of candidate paths.
#![expect(unsafe_code, reason = "execve has no safe wrapper")]

use std::ffi::{CString, c_char};
use std::io;

/// Executes the first candidate that the kernel accepts; returns only when none was.
///
/// A candidate that may not be executed is remembered and reported when no later one works.
pub(crate) fn exec(candidates: &[CString], argv: &[CString], env: &[CString]) -> io::Error {
    let argv = pointers(argv);
    let env = pointers(env);
    let mut denied = None;
    let mut last = io::Error::from_raw_os_error(libc::ENOENT);
    for program in candidates {
        // SAFETY: both arrays are null-terminated and point to C strings that outlive the call.
        unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
        last = io::Error::last_os_error();
        match last.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT) => {}
            Some(libc::EACCES) => denied = Some(libc::EACCES),
            _ => return last,
        }
    }
    denied.map_or(last, io::Error::from_raw_os_error)
}

fn pointers(list: &[CString]) -> Vec<*const c_char> {
    list.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}
