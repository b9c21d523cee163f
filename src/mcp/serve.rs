//! The life of the server: from the first message until nobody is left to answer.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio::time;

use super::Offer;
use super::server::Server;
use super::wire::Wire;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::Platform;

/// Once the input has ended, answers that are nearly there are still given; who takes longer is left.
const GRACE: Duration = Duration::from_millis(500);

/// Serves standard input until it ends, or until the process is asked to end. `platform`: the agent whose client it is,
/// where that was said.
///
/// # Errors
/// [`Failure`] when the system refuses a thread or a signal handler.
pub fn serve(offer: &'static Offer, paths: &Paths, platform: Option<Platform>) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new("mcp", error, "check the limits of the system");
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let outcome = runtime.block_on(until_nobody_is_left(offer, paths, platform)).map_err(failed);
    // Work that nobody waits for any more ends with the process; a transaction that is not committed leaves no trace.
    runtime.shutdown_background();
    outcome
}

async fn until_nobody_is_left(
    offer: &'static Offer,
    paths: &Paths,
    platform: Option<Platform>,
) -> io::Result<()> {
    let (mut terminated, mut interrupted) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let ended = Arc::new(Notify::new());
    let wire = Wire::open(paths, Arc::clone(&ended))?;
    let served = async {
        // Otherwise the client has left before it asked for anything.
        if let Ok(running) = Server::new(offer, paths, platform).serve(wire).await {
            let _ = running.waiting().await;
        }
    };
    let left_alone = async {
        ended.notified().await;
        time::sleep(GRACE).await;
    };
    tokio::select! {
        () = served => {}
        () = left_alone => {}
        _ = terminated.recv() => {}
        _ = interrupted.recv() => {}
    }
    Ok(())
}
