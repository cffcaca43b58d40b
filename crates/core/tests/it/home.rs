//! Projects of a home and the ids that they get.

use proptest::prelude::*;
use tidegate_core::home::{Home, HomeEvent, Place};
use tidegate_core::ids::check_name;

use crate::fixture::config;

fn place(common_dir: &str) -> Place {
    Place { root: format!("{common_dir}/.."), common_dir: common_dir.to_owned() }
}

/// Registers a folder and gives the id that it got.
fn register(home: &mut Home, folder: &str) -> String {
    let project = home.free_id(folder);
    let event = HomeEvent::ProjectRegistered {
        project: project.clone(),
        place: place(&format!("/{folder}/{}/.git", home.projects.len())),
    };
    home.apply(&event);
    project.to_string()
}

#[test]
fn free_id_is_the_folder_and_then_numbered() {
    let mut home = Home::default();
    let ids = ["harbour", "harbour", "harbour-2", "harbour"].map(|f| register(&mut home, f));
    assert_eq!(ids, ["harbour", "harbour-2", "harbour-2-2", "harbour-3"]);
}

#[test]
fn free_id_of_a_hostile_folder_fits_the_grammar() {
    let folders = ["", "..", ".", "---", "-x", "a b", "привет", "x.lock", "a/b", "\u{1b}"];
    for folder in folders.map(str::to_owned).into_iter().chain([".".repeat(500), "x".repeat(500)]) {
        let id = Home::default().free_id(&folder);
        assert!(check_name("project", id.as_str()).is_ok(), "{folder:?} became {id}");
    }
}

#[test]
fn project_is_found_by_its_common_dir_until_it_is_removed() {
    let mut home = Home::default();
    let id = register(&mut home, "harbour");
    let (found, _) = home.find("/harbour/0/.git").unwrap();
    assert_eq!(found.as_str(), id);
    let project = found.clone();
    home.apply(&HomeEvent::ProjectRemoved { project });
    assert!(home.find("/harbour/0/.git").is_none());
    assert_eq!(register(&mut home, "harbour"), "harbour", "the id is free again");
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn free_ids_never_collide(folders in prop::collection::vec("[a.-]{0,3}|\\PC{0,60}", 0..20)) {
        let mut home = Home::default();
        let ids: std::collections::BTreeSet<String> =
            folders.iter().map(|folder| register(&mut home, folder)).collect();
        prop_assert_eq!(ids.len(), folders.len());
        prop_assert!(ids.iter().all(|id| check_name("project", id).is_ok()));
    }
}
