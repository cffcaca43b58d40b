//! Who calls, and in which environment.

use std::ffi::OsString;

use tidegate_protocol::Text;

/// The complete environment, byte for byte, in its order.
pub(crate) fn environment() -> Vec<(Text, Text)> {
    std::env::vars_os().map(|(name, value)| (Text::from(name), Text::from(value))).collect()
}

/// The user's name, as the caller's environment says it, else as the daemon finds it; that knows the uid by itself.
pub(crate) fn actor() -> String {
    let own = || tidegate_daemon::http::user_name(rustix::process::getuid().as_raw());
    name_in(|name| std::env::var_os(name)).unwrap_or_else(own)
}

fn name_in(variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    const BYTES_MAX: usize = 64;
    let fits = |name: &String| {
        !name.is_empty() && name.len() <= BYTES_MAX && !name.chars().any(char::is_control)
    };
    let mut named =
        ["USER", "LOGNAME"].iter().filter_map(|name| variable(name)?.into_string().ok());
    named.find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actor_is_the_first_name_that_fits() {
        let name = |user: &'static str| {
            name_in(move |variable| match variable {
                "USER" => Some(user.into()),
                _ => Some("log".into()),
            })
        };
        assert_eq!(name("ada"), Some("ada".to_owned()));
        assert_eq!(name(""), Some("log".to_owned()));
        assert_eq!(name("a\nb"), Some("log".to_owned()));
        assert_eq!(name_in(|_| None), None);
    }
}
