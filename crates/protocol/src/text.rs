//! Text of the operating system on the wire, without loss: a string where it is UTF-8, else
//! `{"hex": ".."}`.

use serde::{Deserialize, Serialize};

/// An argument, a path or an environment text: any bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct Text(Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Wire {
    Text(String),
    Hex { hex: String },
}

/// Why a wire text could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`hex` holds something else than pairs of hex digits")]
pub struct NotHex;

impl Text {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its bytes, taken.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The text, when it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// For people: what is not UTF-8 is replaced.
    pub fn to_lossy(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.to_lossy())
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<std::ffi::OsString> for Text {
    fn from(text: std::ffi::OsString) -> Self {
        Self(std::os::unix::ffi::OsStringExt::into_vec(text))
    }
}

impl From<Text> for std::ffi::OsString {
    fn from(text: Text) -> Self {
        std::os::unix::ffi::OsStringExt::from_vec(text.0)
    }
}

impl From<Text> for Wire {
    fn from(text: Text) -> Self {
        match String::from_utf8(text.0) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Hex { hex: to_hex(error.as_bytes()) },
        }
    }
}

impl TryFrom<Wire> for Text {
    type Error = NotHex;

    fn try_from(wire: Wire) -> Result<Self, NotHex> {
        match wire {
            Wire::Text(text) => Ok(Self(text.into_bytes())),
            Wire::Hex { hex } => from_hex(&hex).map(Self).ok_or(NotHex),
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn text_of_any_bytes_survives_the_wire() {
        for bytes in [&b"plain"[..], b"", "\u{e9}\n\"".as_bytes(), b"\xff\x00\xfe", &[0x80]] {
            let text = Text::from(bytes.to_vec());
            let json = serde_json::to_string(&text).unwrap();
            assert_eq!(serde_json::from_str::<Text>(&json).unwrap(), text, "{json}");
        }
    }

    #[test]
    fn text_with_bad_hex_is_refused() {
        for hex in ["f", "0g", "é"] {
            let json = format!("{{\"hex\":\"{hex}\"}}");
            assert!(serde_json::from_str::<Text>(&json).is_err(), "{json}");
        }
    }
}
