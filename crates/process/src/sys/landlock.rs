//! Whether the kernel can confine a process to parts of the file system.
#![expect(unsafe_code, reason = "landlock_create_ruleset has no safe wrapper")]

/// Asks for the version instead of a rule set.
const VERSION: libc::c_uint = 1;

/// The version of the kernel's landlock interface; `None` when it has none, or it is switched off.
pub(crate) fn version() -> Option<u32> {
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel reads no attributes and makes no descriptor.
    let told =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    u32::try_from(told).ok().filter(|version| *version > 0)
}
