//! Texts of people: given as an argument, or on standard input.

use std::io::Read as _;

use crate::error::CliError;

/// The text itself, or what standard input says for `-`.
///
/// # Errors
/// When standard input cannot be read.
pub(crate) fn text_or_stdin(text: String) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text);
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| CliError::io("read", std::path::Path::new("standard input"), &error))?;
    Ok(text)
}
