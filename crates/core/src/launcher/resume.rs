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
        append_selection(&mut argv, &spec.selection, spec.selection.start_wave);
    }
    argv
}

/// The argv of a resume at `wave`.
pub fn resume_argv(spec: &LauncherSpec, run: &str, wave: u32) -> Vec<String> {
    match &spec.style {
        SelectionStyle::EnvironmentOnly => spec.argv.clone(),
        SelectionStyle::Append => {
            let mut argv = without_own_flags(&spec.argv);
            append_selection(&mut argv, &spec.selection, Some(wave));
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

fn append_selection(argv: &mut Vec<String>, selection: &Selection, wave: Option<u32>) {
    if selection.auto_next {
        argv.push("--auto-next".to_owned());
    } else if let Some(wave) = wave {
        argv.push("--start-wave".to_owned());
        argv.push(wave.to_string());
    }
    if let Some(end) = selection.end_wave {
        argv.push("--end-wave".to_owned());
        argv.push(end.to_string());
    }
}

fn without_own_flags(argv: &[String]) -> Vec<String> {
    let mut kept = Vec::with_capacity(argv.len());
    let mut parts = argv.iter().enumerate();
    while let Some((place, part)) = parts.next() {
        let own = OWN_FLAGS.iter().find(|(flag, _)| {
            part == flag || part.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))
        });
        match own {
            Some((flag, true)) if part == flag => {
                parts.next();
            }
            Some(_) if place > 0 => {}
            Some(_) | None => kept.push(part.clone()),
        }
    }
    kept
}
