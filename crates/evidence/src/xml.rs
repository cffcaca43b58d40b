//! XML as reports use it: elements with attributes, in order, with their places. What can expand,
//! nest without end or reach outside is refused.

use quick_xml::XmlVersion;
use quick_xml::events::attributes::{AttrError, Attribute};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::error::{Problem, ReportError};

/// Elements within elements that are followed.
const DEPTH_MAX: usize = 256;

/// An element's start.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    /// Its name without a namespace prefix.
    pub(crate) name: String,
    /// Its offset in bytes.
    pub(crate) offset: usize,
    attributes: Vec<(String, String)>,
}

impl Element {
    /// The value of an attribute.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// One step through a document.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// An element begins.
    Open(Element),
    /// The element that began last and has not ended ends.
    Close,
    /// Nothing comes after.
    End,
}

/// A walk through a document.
pub(crate) struct Walk<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    depth: usize,
    pending_close: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, reader: Reader::from_str(text), depth: 0, pending_close: false }
    }

    /// An error at an offset of this document.
    pub(crate) fn error(&self, problem: Problem, offset: usize) -> ReportError {
        ReportError::new(problem, self.text, offset)
    }

    fn offset(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    /// The next element's start or end.
    pub(crate) fn next(&mut self) -> Result<Step, ReportError> {
        if std::mem::take(&mut self.pending_close) {
            return Ok(Step::Close);
        }
        loop {
            let offset = self.offset();
            let event = self.reader.read_event().map_err(|error| {
                let at = usize::try_from(self.reader.error_position()).unwrap_or(usize::MAX);
                self.error(Problem::Malformed(error.to_string()), at)
            })?;
            match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > DEPTH_MAX {
                        return Err(self.error(Problem::TooDeep(DEPTH_MAX), offset));
                    }
                    return Ok(Step::Open(self.element(&start, offset)?));
                }
                Event::Empty(start) => {
                    self.pending_close = true;
                    return Ok(Step::Open(self.element(&start, offset)?));
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Step::Close);
                }
                Event::DocType(declaration) if declaration.contains(['[', '%']) => {
                    return Err(self.error(Problem::Entities, offset));
                }
                Event::GeneralRef(reference) => self.check_reference(&reference, offset)?,
                Event::Eof if self.depth > 0 => {
                    return Err(self.error(Problem::Truncated("the end of an element"), offset));
                }
                Event::Eof => return Ok(Step::End),
                Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::DocType(_) => {}
            }
        }
    }

    fn check_reference(&self, name: &str, offset: usize) -> Result<(), ReportError> {
        if name.starts_with('#') || matches!(name, "lt" | "gt" | "amp" | "apos" | "quot") {
            return Ok(());
        }
        Err(self.error(Problem::UndefinedEntity(name.to_owned()), offset))
    }

    fn element(&self, start: &BytesStart<'_>, offset: usize) -> Result<Element, ReportError> {
        let local = start.local_name();
        let name: &str = local.as_ref();
        let attributes = start
            .attributes()
            .map(|attribute| self.attribute(attribute, offset))
            .collect::<Result<_, _>>()?;
        Ok(Element { name: name.to_owned(), offset, attributes })
    }

    fn attribute(
        &self,
        attribute: Result<Attribute<'_>, AttrError>,
        offset: usize,
    ) -> Result<(String, String), ReportError> {
        let malformed = |error: String| self.error(Problem::Malformed(error), offset);
        let attribute = attribute.map_err(|error| malformed(error.to_string()))?;
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| malformed(error.to_string()))?;
        let key: &str = attribute.key.as_ref();
        Ok((key.to_owned(), value.into_owned()))
    }
}
