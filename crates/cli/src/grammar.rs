//! The grammar of names, as the domain defines it.

pub(crate) fn check_name(what: &'static str, text: &str) -> Result<(), String> {
    tidegate_daemon::ids::check_name(what, text).map_err(|error| error.to_string())
}
