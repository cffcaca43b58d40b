//! What an agent told, from its durable output and its manifest alone: after a crash the same
//! answer is found again.

use std::io;
use std::path::Path;

use tidegate_agents::{Judge, Rules};
use tidegate_core::exit::Exit;
use tidegate_core::ids::JobId;
use tidegate_core::run::Run;
use tidegate_core::told::Told;
use tidegate_process::output::{Frame, FrameKind, OutputReader, Stream};

/// Bytes of output without an index that are read, from their beginning.
const TAIL_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What the agent of a job told by its end; `None` for a job that is no agent's, or one whose exit
/// code is all that tells.
pub(super) fn read(run: &Run, id: &JobId, dir: &Path, exit: &Exit) -> Option<Told> {
    let manifest = run.manifest_of(id).filter(|manifest| manifest.judges())?;
    let resumed = run.jobs.get(id)?.session.as_ref().is_some_and(|session| session.resumed);
    let rules = match Rules::new(manifest, offset_s(exit)) {
        Ok(rules) => rules,
        Err(error) => {
            tracing::error!(job = %id, %error, "a manifest cannot be applied");
            return None;
        }
    };
    let mut judge = Judge::new(&rules);
    if let Err(error) = feed(&mut judge, dir) {
        tracing::warn!(job = %id, %error, "the output of an agent cannot be read whole");
    }
    Some(judge.end(exit, resumed, |_| {}))
}

/// How far this host's clocks were ahead of UTC at that end, in seconds.
fn offset_s(exit: &Exit) -> i32 {
    let at =
        i64::try_from(exit.at.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let zone = jiff::tz::TimeZone::try_system().ok();
    at.zip(zone).map_or(0, |(at, zone)| zone.to_offset(at).seconds())
}

fn feed(judge: &mut Judge<'_>, dir: &Path) -> io::Result<()> {
    let mut reader = OutputReader::new(dir);
    let mut end = (0, 0);
    loop {
        let frames = reader.next_frames()?;
        if frames.is_empty() {
            break;
        }
        for frame in &frames {
            end = end.max(end_of(frame));
            let Some(bytes) = reader.bytes(frame)? else { continue };
            match frame.stream {
                Stream::Stdout => judge.stdout(&bytes, |_| {}),
                Stream::Stderr => judge.stderr(&bytes),
            }
        }
    }
    // What a killed shim has not put into the index: of a stream that nobody knows. Lines that are
    // no JSON mean nothing there.
    for segment in OutputReader::segments(dir)? {
        let from = match segment.number.cmp(&end.0) {
            std::cmp::Ordering::Less => continue,
            std::cmp::Ordering::Equal => end.1,
            std::cmp::Ordering::Greater => 0,
        };
        let length = segment.length.saturating_sub(from).min(TAIL_BYTES_MAX);
        let Ok(length) = u32::try_from(length) else { continue };
        let frame = Frame {
            kind: FrameKind::Data,
            stream: Stream::Stdout,
            segment: segment.number,
            offset: from,
            length,
            at_wall_ms: 0,
        };
        if let Some(bytes) = reader.bytes(&frame)?.filter(|_| length > 0) {
            judge.stdout(&bytes, |_| {});
        }
    }
    Ok(())
}

fn end_of(frame: &Frame) -> (u32, u64) {
    match frame.kind {
        FrameKind::Data => (frame.segment, frame.offset + u64::from(frame.length)),
        FrameKind::Gap => (frame.segment, frame.offset),
    }
}
