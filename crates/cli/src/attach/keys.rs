//! The keys that detach. Terminals send a key with Ctrl in more than one way; all of them count.

/// One key of the sequence: the ways in which it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    forms: Vec<Vec<u8>>,
}

impl Key {
    fn parse(text: &str) -> Option<Self> {
        let control = text.strip_prefix("ctrl-").or_else(|| text.strip_prefix("Ctrl-"));
        let mut chars = control.unwrap_or(text).chars();
        let (Some(char), None) = (chars.next(), chars.next()) else { return None };
        if control.is_none() {
            let printable = !char.is_control();
            return printable.then(|| Self { forms: vec![char.to_string().into_bytes()] });
        }
        let char = char.to_ascii_lowercase();
        let byte = match char {
            'a'..='z' => u8::try_from(char).ok()? - b'a' + 1,
            '@' => 0,
            '[' => 0x1b,
            '\\' => 0x1c,
            ']' => 0x1d,
            '^' => 0x1e,
            '_' => 0x1f,
            _ => return None,
        };
        let code = u32::from(char);
        let kitty = format!("\x1b[{code};5u").into_bytes();
        let xterm = format!("\x1b[27;5;{code}~").into_bytes();
        Some(Self { forms: vec![vec![byte], kitty, xterm] })
    }

    /// Length of the key at the front of `bytes`, if it is there whole.
    fn at_front(&self, bytes: &[u8]) -> Option<usize> {
        self.forms.iter().find(|form| bytes.starts_with(form)).map(Vec::len)
    }
}

/// A sequence of keys that is looked for in what is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keys {
    keys: Vec<Key>,
    text: String,
    /// The first keys of the sequence, typed and not passed on yet.
    held: Vec<u8>,
    matched: usize,
}

/// What is left of something typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    /// What is passed on.
    pub(crate) pass: Vec<u8>,
    /// The whole sequence was typed.
    pub(crate) detach: bool,
}

impl Keys {
    /// Reads `ctrl-p,ctrl-q` and the like; `None` when it is no such list.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let keys: Option<Vec<Key>> = text.split(',').map(Key::parse).collect();
        let keys = keys.filter(|keys| !keys.is_empty())?;
        Some(Self { keys, text: text.to_owned(), held: Vec::new(), matched: 0 })
    }

    /// As it was written, for people.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Looks for the sequence in what was typed.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Typed {
        let mut pass = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            if let Some(length) = self.keys[self.matched].at_front(&bytes[at..]) {
                self.held.extend_from_slice(&bytes[at..at + length]);
                self.matched += 1;
                at += length;
                if self.matched == self.keys.len() {
                    self.held.clear();
                    self.matched = 0;
                    return Typed { pass, detach: true };
                }
            } else if self.matched > 0 {
                // Not the sequence after all; this key may begin it anew.
                pass.append(&mut self.held);
                self.matched = 0;
            } else {
                pass.push(bytes[at]);
                at += 1;
            }
        }
        Typed { pass, detach: false }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn typed(keys: &str, parts: &[&str]) -> (String, bool) {
        let mut keys = Keys::parse(keys).unwrap();
        let mut all = Vec::new();
        for part in parts {
            let typed = keys.take(part.as_bytes());
            all.extend(typed.pass);
            if typed.detach {
                return (String::from_utf8(all).unwrap(), true);
            }
        }
        (String::from_utf8(all).unwrap(), false)
    }

    #[test]
    fn sequence_detaches_however_it_is_cut_and_sent() {
        let keys = "ctrl-p,ctrl-q";
        assert_eq!(typed(keys, &["ab\x10\x11"]), ("ab".into(), true));
        assert_eq!(typed(keys, &["\x10", "\x11"]), (String::new(), true));
        assert_eq!(typed(keys, &["\x1b[112;5u", "\x1b[113;5u"]), (String::new(), true));
        assert_eq!(typed(keys, &["\x1b[27;5;112~\x11"]), (String::new(), true));
        assert_eq!(typed(keys, &["\x10\x10", "\x11"]), ("\x10".into(), true));
        assert_eq!(typed("~,.", &["x~."]), ("x".into(), true));
    }

    #[test]
    fn other_keys_are_passed_on_whole() {
        assert_eq!(typed("ctrl-p,ctrl-q", &["\x10x\x11"]), ("\x10x\x11".into(), false));
        assert_eq!(typed("ctrl-p,ctrl-q", &["\x1b", "[A"]), ("\x1b[A".into(), false));
    }

    #[test]
    fn list_that_names_no_keys_is_refused() {
        for bad in ["", "ctrl-", "ctrl-pp", "ctrl-1", "a,", "\x07"] {
            assert_eq!(Keys::parse(bad), None, "{bad:?}");
        }
    }
}
