//! `provider`: a mock provider of embeddings and chat on this machine, to try remote models without one.

use std::time::Duration;

use anyhow::Result;
use everlore_mock_llm::{
    HttpRequest, HttpResponse, MockChat, MockEmbeddings, MockServer, Responder, chat::persona,
};

/// Serve a mock provider of embeddings and chat for all protocols, until interrupted
#[derive(clap::Args)]
pub(crate) struct ProviderArgs {
    /// API key that it requires; none if not given
    #[arg(long)]
    key: Option<String>,
    /// Dimensions of its embeddings
    #[arg(long, default_value_t = 64)]
    dimensions: usize,
    /// Pause before each chunk of a response, in milliseconds
    #[arg(long, default_value_t = 20)]
    pause: u64,
}

/// Provider with an embedding model and a chat model.
struct MockProvider {
    embeddings: MockEmbeddings,
    chats: MockChat,
}

impl Responder for MockProvider {
    fn respond(&mut self, request: &HttpRequest) -> HttpResponse {
        match request.path.as_str() {
            "/v1/embeddings" | "/api/embed" => self.embeddings.respond(request),
            _ => self.chats.respond(request),
        }
    }
}

/// Prints settings to copy, then serves.
pub(crate) fn run(args: &ProviderArgs) -> Result<()> {
    anyhow::ensure!(args.dimensions > 0, "--dimensions must be at least 1");
    let embeddings = MockEmbeddings {
        key: args.key.clone(),
        dimensions: args.dimensions,
        ..MockEmbeddings::default()
    };
    let pause = Duration::from_millis(args.pause);
    let chats = MockChat::new().otherwise(move |request| persona(request).with_pause(pause));
    let chats = args.key.iter().fold(chats, |chats, key| chats.with_key(key));
    let (embedder, chat) = (embeddings.model.clone(), chats.models()[0].clone());
    let server = MockServer::start(MockProvider { embeddings, chats });
    let url = server.url();
    println!(
        "[embedding]\nprovider = \"openai\"\nmodel = \"{embedder}\"\nbase_url = \"{url}/v1\"\n"
    );
    println!(
        "[memory_agent]\nenabled = true\nprovider = \"openai\"\nmodel = \"{chat}\"\nbase_url = \"{url}/v1\"\n"
    );
    println!(
        "# The model speaks the other protocols too; choose one for [memory_agent] or [chat]:"
    );
    for other in ["anthropic", "ollama", "gemini"] {
        println!("# provider = \"{other}\"   base_url = \"{url}\"");
    }
    loop {
        std::thread::park();
    }
}
