//! What a person says to a commit that may land.

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use tidegate_core::ids::{FeatureId, Oid};
use tidegate_protocol::{ApproveRequest, DenyRequest, ErrorCode, Problem};

use super::commands::{From, Order, Shared, name};
use super::reply::reply;
use crate::engine::Command;
use crate::views::Viewer;

pub(super) async fn approve(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let (request, actor) = order.of_user::<ApproveRequest>()?;
        let feature = name(&request.feature, FeatureId::new)?;
        let run = order.run(&id).await?;
        let (commit, review) = match (request.commit, request.token) {
            (Some(commit), None) => (full_id(&commit)?, None),
            (None, Some(token)) => {
                let (run, feature) = (run.clone(), feature.clone());
                let prove = move |viewer: &mut Viewer| viewer.proved_token(&run, &feature, &token);
                let (commit, number) = app.look(prove).await?;
                (commit, Some(number))
            }
            (Some(_), Some(_)) => {
                return Err(Problem::invalid_input("a consent has `token` or `commit`, not both"));
            }
            (None, None) => {
                let message = format!("a consent to `{feature}` names its `token` or its `commit`");
                return Err(Problem::new(ErrorCode::UserApprovalRequired, message)
                    .hint("`tidegate review` shows both"));
            }
        };
        let what = format!("approve {run}");
        order.give(&what, Command::Approve { run, feature, commit, review, actor }).await
    };
    reply(work.await)
}

pub(super) async fn deny(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let (request, actor) = order.of_user::<DenyRequest>()?;
        let feature = name(&request.feature, FeatureId::new)?;
        let commit = full_id(&request.commit)?;
        let comments = request.comments.trim().to_owned();
        if comments.is_empty() {
            return Err(Problem::invalid_input(
                "`comments` is empty: it is what the builder is told",
            ));
        }
        let run = order.run(&id).await?;
        let what = format!("deny {run}");
        order.give(&what, Command::Deny { run, feature, commit, actor, comments }).await
    };
    reply(work.await)
}

fn full_id(text: &str) -> Result<Oid, Problem> {
    let wrong = || Problem::invalid_input("`commit` is a full commit id, in lower-case hex");
    Oid::new(text).ok_or_else(wrong)
}
