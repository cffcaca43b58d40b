//! How a launcher learns which waves it is to run, at its first start and at a resume.

use super::{Journal, LauncherSpec};

/// The waves that a run was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// `--start-wave`.
    pub start_wave: Option<u32>,
    /// `--end-wave`.
    pub end_wave: Option<u32>,
    /// `--auto-next`.
    pub auto_next: bool,
}

/// How a launcher learns of the selection beside its environment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SelectionStyle {
    /// By its environment alone.
    #[default]
    EnvironmentOnly,
    /// By flags appended to its argv.
    Append,
    /// A resume has an argv of its own: `{wave}`, `{end_wave}`, `{run}` are filled in.
    ResumeArgv(Vec<String>),
}

/// Flags that a resume states anew; those with a value are marked.
const OWN_FLAGS: [(&str, bool); 4] = [
    ("--start-wave", true),
    ("--end-wave", true),
    ("--auto-next", false),
    ("--resume-control-state", false),
];

/// The argv of the first start.
pub fn start_argv(spec: &LauncherSpec) -> Vec<String> {
    let mut argv = spec.argv.clone();
    if spec.style == SelectionStyle::Append {
        let Selection { start_wave, end_wave, auto_next } = spec.selection;
        // Both may be asked for: automatic from a wave on.
        append_wave(&mut argv, "--start-wave", start_wave);
        append_flag(&mut argv, "--auto-next", auto_next);
        append_wave(&mut argv, "--end-wave", end_wave);
    }
    argv
}

/// The argv of a resume at `wave`.
pub fn resume_argv(spec: &LauncherSpec, run: &str, wave: u32) -> Vec<String> {
    match &spec.style {
        SelectionStyle::EnvironmentOnly => spec.argv.clone(),
        SelectionStyle::Append => {
            let (mut argv, told) = without_own_flags(&spec.argv);
            // What the launcher's own argv says of the selection bounds a resume as well.
            let auto_next = spec.selection.auto_next || told.auto_next;
            append_flag(&mut argv, "--auto-next", auto_next);
            append_wave(&mut argv, "--start-wave", Some(wave).filter(|_| !auto_next));
            append_wave(&mut argv, "--end-wave", spec.selection.end_wave.or(told.end_wave));
            argv.push("--resume-control-state".to_owned());
            argv
        }
        SelectionStyle::ResumeArgv(template) => {
            let end = spec.selection.end_wave.map(|w| w.to_string()).unwrap_or_default();
            template
                .iter()
                .map(|part| {
                    part.replace("{wave}", &wave.to_string())
                        .replace("{end_wave}", &end)
                        .replace("{run}", run)
                })
                .collect()
        }
    }
}

/// The wave that a run reached at its good end: the journal's, else the selection's end (when
/// both bounds are given, in order, and it is no auto-next run), else the recorded one, else the
/// start.
pub fn final_wave(
    journal: Option<&Journal>,
    selection: &Selection,
    recorded: Option<u32>,
) -> Option<u32> {
    let by_selection = match (selection.start_wave, selection.end_wave) {
        (Some(start), Some(end)) if end >= start && !selection.auto_next => Some(end),
        (Some(_) | None, Some(_) | None) => None,
    };
    journal.and_then(|journal| journal.wave).or(by_selection).or(recorded).or(selection.start_wave)
}

fn append_flag(argv: &mut Vec<String>, flag: &str, wanted: bool) {
    if wanted {
        argv.push(flag.to_owned());
    }
}

fn append_wave(argv: &mut Vec<String>, flag: &str, wave: Option<u32>) {
    if let Some(wave) = wave {
        argv.push(flag.to_owned());
        argv.push(wave.to_string());
    }
}

/// The argv without the flags that a resume states anew, and what those flags said. The program
/// itself is never taken for a flag, nor is a flag taken for the value of the one before it.
fn without_own_flags(argv: &[String]) -> (Vec<String>, Selection) {
    let mut told = Selection::default();
    let mut kept: Vec<String> = argv.first().cloned().into_iter().collect();
    let mut parts = argv.iter().skip(1).peekable();
    while let Some(part) = parts.next() {
        let (name, inline) = match part.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (part.as_str(), None),
        };
        let Some((flag, takes_value)) = OWN_FLAGS.iter().find(|(flag, _)| *flag == name) else {
            kept.push(part.clone());
            continue;
        };
        let value = match inline {
            None if *takes_value => parts.next_if(|next| !next.starts_with("--")).cloned(),
            inline => inline,
        };
        let wave = value.as_deref().and_then(|value| value.parse().ok());
        match *flag {
            "--start-wave" => told.start_wave = wave.or(told.start_wave),
            "--end-wave" => told.end_wave = wave.or(told.end_wave),
            "--auto-next" => told.auto_next = value.as_deref() != Some("false"),
            _ => {}
        }
    }
    (kept, told)
}
