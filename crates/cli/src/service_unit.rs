//! The text of a systemd user unit for the daemon of a home. It must not know where it is put.

use std::path::Path;

/// A unit that runs `program` as the daemon of `home`; `None` when one of them cannot be written in
/// a unit.
///
/// Stopping it stops the daemon alone (`KillMode=process`): jobs go on under their shims.
pub(crate) fn service_unit(program: &Path, home: &Path) -> Option<String> {
    let (program, home) = (quoted(program)?, quoted(home)?);
    Some(format!(
        "\
[Unit]
Description=Tidegate, the supervisor of coding agents
Documentation=man:tidegate(1)

[Service]
Type=notify
NotifyAccess=main
ExecStart={program} --home {home} daemon run
KillMode=process
Restart=on-failure
RestartSec=1
TimeoutStartSec=5min
TimeoutStopSec=30
WatchdogSec=60

[Install]
WantedBy=default.target
"
    ))
}

/// A word of a command line in a unit, with nothing in it that systemd expands.
fn quoted(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control))?;
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    Some(format!("\"{}\"", text.replace('%', "%%").replace('$', "$$")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_a_unit_are_taken_by_the_letter() {
        let unit = service_unit(Path::new("/opt/my \"tools\"/tidegate"), Path::new("/h/%u/$x"));
        let line = r#"ExecStart="/opt/my \"tools\"/tidegate" --home "/h/%%u/$$x" daemon run"#;
        assert!(unit.clone().is_some_and(|unit| unit.lines().any(|of| of == line)), "{unit:?}");
        assert_eq!(service_unit(Path::new("/a\nb"), Path::new("/h")), None);
    }
}
