//! The pinned environment of a client: bytes in, bytes out, lossless.
//!
//! One record is `NAME=VALUE`, ended by NUL, as the kernel itself hands it over: neither names nor
//! values can hold a NUL.

/// Encodes pairs, in their order.
pub fn encode<'a>(pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in pairs {
        bytes.extend_from_slice(name);
        bytes.push(b'=');
        bytes.extend_from_slice(value);
        bytes.push(0);
    }
    bytes
}

/// Decodes what [`encode`] made; a record without `=` is a name with an empty value.
pub fn decode(bytes: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let records = bytes.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    records
        .map(|record| {
            // A name may begin with `=` but not be empty.
            let end = record.iter().skip(1).position(|byte| *byte == b'=').map(|at| at + 1);
            match end {
                Some(end) => (record[..end].to_vec(), record[end + 1..].to_vec()),
                None => (record.to_vec(), Vec::new()),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_with_odd_bytes_come_back_unchanged() {
        let pairs: Vec<(Vec<u8>, Vec<u8>)> = vec![
            (b"PATH".to_vec(), b"/bin:/usr/bin".to_vec()),
            (b"EMPTY".to_vec(), Vec::new()),
            (b"EQUALS".to_vec(), b"a=b=c\n".to_vec()),
            (b"LATIN".to_vec(), vec![0xe4, 0xff]),
            (b"=C:".to_vec(), b"x".to_vec()),
        ];
        let bytes = encode(pairs.iter().map(|(n, v)| (n.as_slice(), v.as_slice())));
        assert_eq!(decode(&bytes), pairs);
    }
}
