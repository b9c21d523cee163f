//! Requests → answers. Each does its work in a thread of its own, with connections of its own; one that is cancelled is
//! answered by nobody and stops.

use std::env;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, ErrorData, Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::places::Places;
use super::{Arguments, Offer, Resources, Tool};
use crate::config::Paths;
use crate::error::Failure;
use crate::model::{Caller, Gone, Platform};

/// So many calls are at work at once; others wait for their turn.
const AT_ONCE: usize = 8;
/// No client's session id is longer.
const LONGEST_SESSION: usize = 200;

#[derive(Debug)]
pub(super) struct Server {
    offer: &'static Offer,
    paths: Paths,
    platform: Option<Platform>,
    session: Option<String>,
    places: Places,
    turns: Arc<Semaphore>,
}

impl Server {
    pub(super) fn new(offer: &'static Offer, paths: &Paths, platform: Option<Platform>) -> Self {
        let session = match platform {
            // Others do not tell theirs: the life of the server is one.
            Some(platform) if !platform.is_claude() => Some(format!("mcp-{}", Uuid::now_v7().simple())),
            _ => env::var("CLAUDE_CODE_SESSION_ID").ok(),
        };
        let session = session.filter(|id| !id.is_empty() && id.len() <= LONGEST_SESSION);
        Self {
            offer,
            paths: paths.clone(),
            platform,
            session,
            places: Places::from_environment(),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Does a piece of work for a request, for as long as the client waits for it.
    async fn work<T: Send + 'static>(
        &self,
        request: &RequestContext<RoleServer>,
        work: impl FnOnce(&Caller, &Paths) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let gone = Gone::default();
        let at_work = async {
            let dir = self.places.dir(request).await;
            let (platform, session) = (self.platform, self.session.clone());
            let caller = Caller { dir, platform, session, gone: gone.clone() };
            let turn = Arc::clone(&self.turns).acquire_owned().await;
            let paths = self.paths.clone();
            tokio::task::spawn_blocking(move || {
                // Work that was taken back has its turn until it stops.
                let _turn = turn;
                work(&caller, &paths)
            })
            .await
        };
        tokio::select! {
            done = at_work => done.map_err(|_| ErrorData::internal_error("the call broke off", None)),
            () = request.ct.cancelled() => {
                gone.set();
                // Nobody is told: the client does not wait for an answer.
                Err(ErrorData::internal_error("cancelled", None))
            }
        }
    }

    fn resources(&self) -> Result<Resources, ErrorData> {
        self.offer
            .resources
            .ok_or_else(|| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "there are no resources", None))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        let capabilities = match self.offer.resources {
            Some(_) => capabilities.enable_resources().build(),
            None => capabilities.build(),
        };
        let info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")));
        match self.offer.instructions {
            "" => info,
            instructions => info.with_instructions(instructions),
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.offer.tools.iter().map(|tool| described(tool)).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        request: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.offer.tools.iter().find(|tool| tool.name == call.name) else {
            let known: Vec<&str> = self.offer.tools.iter().map(|tool| tool.name).collect();
            let why = format!("unknown tool {:?}: there are {}", call.name, known.join(", "));
            return Err(ErrorData::invalid_params(why, None));
        };
        let done = match Arguments::read(tool, call.arguments.unwrap_or_default()) {
            Ok(arguments) => {
                self.work(&request, move |caller, paths| (tool.call)(&arguments, caller, paths)).await?
            }
            Err(wrong) => Err(wrong),
        };
        Ok(answer(done).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        request: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let list = self.resources()?.list;
        let listed = self.work(&request, list).await?.map_err(|failure| failed(&failure))?;
        let resource = |listed: super::Resource| {
            rmcp::model::Resource::new(listed.uri, listed.name)
                .with_description(listed.about)
                .with_mime_type(TEXT)
        };
        Ok(ListResourcesResult::with_all_items(listed.into_iter().map(resource).collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let super::Resource { uri, name, about } = *self.resources()?.template;
        let template =
            rmcp::model::ResourceTemplate::new(uri, name).with_description(about).with_mime_type(TEXT);
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        wanted: ReadResourceRequestParams,
        request: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (read, uri) = (self.resources()?.read, Arc::<str>::from(wanted.uri));
        let asked = Arc::clone(&uri);
        let text = self.work(&request, move |caller, paths| read(&asked, caller, paths)).await?;
        match text.map_err(|failure| failed(&failure))? {
            Some(text) => {
                let contents = ResourceContents::text(text, &*uri).with_mime_type(TEXT);
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
            None => Err(ErrorData::resource_not_found(
                format!("{uri} is no resource: see resources/list"),
                Some(serde_json::json!({ "uri": *uri })),
            )),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        // What the SDK cannot read as the request that it is named for, it takes for one of our own.
        Err(if ANSWERED.contains(&method.as_str()) {
            ErrorData::invalid_params(
                format!("the parameters of {method} are not those of the protocol"),
                None,
            )
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method {method}"), None)
        })
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.places.forget_roots().await;
    }
}

const ANSWERED: [&str; 6] = [
    "initialize",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];
const TEXT: &str = "text/plain";

fn described(tool: &Tool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::new().read_only(tool.reads_only);
    let annotations = if tool.reads_only { annotations } else { annotations.destructive(false) };
    rmcp::model::Tool::new(tool.name, tool.about, tool.schema()).with_annotations(annotations)
}

/// What went wrong is part of the answer: the model can mend what it asked.
fn answer(done: Result<String, Failure>) -> CallToolResult {
    match done {
        Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Err(failure) => CallToolResult::error(vec![ContentBlock::text(format!("cmem: {failure}"))]),
    }
}

fn failed(failure: &Failure) -> ErrorData {
    ErrorData::internal_error(format!("cmem: {failure}"), None)
}
