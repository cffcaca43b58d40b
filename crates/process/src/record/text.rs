//! Text of the operating system in JSON, without loss: UTF-8 as a string, else its bytes.

use std::ffi::{CString, NulError, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Serialize};

/// An argument, a path or an environment text: any bytes.
///
/// In JSON it is a string when it is valid UTF-8, else an array of its bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(from = "Wire", into = "Wire")]
pub struct Text(OsString);

impl Text {
    /// The text for the operating system.
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }

    /// The bytes of the text.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// For a call into the kernel.
    ///
    /// # Errors
    /// When it holds a zero byte, which no argument can.
    pub(crate) fn to_c(&self) -> Result<CString, NulError> {
        CString::new(self.as_bytes())
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&self.0, f)
    }
}

impl<T: Into<OsString>> From<T> for Text {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Wire {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<Wire> for Text {
    fn from(wire: Wire) -> Self {
        match wire {
            Wire::Text(text) => Self(text.into()),
            Wire::Bytes(bytes) => Self(OsString::from_vec(bytes)),
        }
    }
}

impl From<Text> for Wire {
    fn from(text: Text) -> Self {
        match text.0.into_string() {
            Ok(text) => Self::Text(text),
            Err(bytes) => Self::Bytes(bytes.into_vec()),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_bytes_survives_json() {
        for bytes in [&b"plain"[..], b"", "\u{e9}\n\"".as_bytes(), b"\xff\x00\xfe", &[0x80]] {
            let text = Text::from(OsString::from_vec(bytes.to_vec()));
            let json = serde_json::to_string(&text).unwrap();
            assert_eq!(serde_json::from_str::<Text>(&json).unwrap(), text, "{json}");
        }
    }

    #[test]
    fn text_that_is_utf8_stays_readable() {
        assert_eq!(serde_json::to_string(&Text::from("a b")).unwrap(), "\"a b\"");
    }
}
