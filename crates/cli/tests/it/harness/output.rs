//! What a call of the product gave.

use serde_json::Value;

/// Exit code, standard output and standard error of one call.
#[derive(Debug)]
pub(crate) struct Output {
    /// The exit code; -1 when a signal ended it.
    pub(crate) code: i32,
    /// Standard output, byte for byte.
    pub(crate) bytes: Vec<u8>,
    /// Standard error.
    pub(crate) said: String,
    call: String,
}

impl Output {
    pub(crate) fn new(call: String, output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            bytes: output.stdout,
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
            call,
        }
    }

    /// Standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Standard output as one envelope.
    pub(crate) fn envelope(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    /// The `data` of an envelope that says ok.
    pub(crate) fn data(&self) -> Value {
        let envelope = self.envelope();
        assert_eq!(envelope["ok"], true, "{self:?}");
        envelope["data"].clone()
    }

    /// The code of the error of an envelope that says not ok.
    pub(crate) fn error(&self) -> String {
        let envelope = self.envelope();
        assert_eq!(envelope["ok"], false, "{self:?}");
        envelope["error"]["code"].as_str().unwrap().to_owned()
    }

    /// Asserts the exit code.
    pub(crate) fn ends_with(self, code: i32) -> Self {
        let Self { call, said, .. } = &self;
        assert_eq!(self.code, code, "{call}\nstdout: {}\nstderr: {said}", self.text());
        self
    }
}
