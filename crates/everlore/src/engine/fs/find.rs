//! Search in the tree by meaning: recall confined to a folder.

use serde::Serialize;

use super::{
    tiers,
    uri::{FsUri, document_parts},
};
use crate::{
    engine::Engine,
    error::{Error, Result},
    ingest::{chunk_origin, root_uri},
    recall::{Hit, HitSignals, RecallRequest, ScoreFactors},
    store::{AddressQuery, MemoryFilter},
    types::{Kind, MemoryId, Scope},
};

/// Request for a search by meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct FsFindRequest {
    /// Query.
    pub query: String,
    /// URI of the folder; the root for everything.
    pub uri: String,
    /// Most hits.
    pub limit: usize,
    /// Least score of a hit.
    pub min_score: f64,
    /// Set to include every number behind the scores.
    pub explain: bool,
}

/// Result of a search by meaning.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsFindReport {
    /// Hits, best first.
    pub found: Vec<FsHit>,
    /// Probability that the best hit answers, from 0 to 1.
    pub confidence: f64,
}

/// Hit of a search by meaning.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FsHit {
    /// URI of the memory.
    pub uri: String,
    /// URI of the document that it is a chunk of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Memory id.
    pub id: MemoryId,
    /// Kind.
    pub kind: Kind,
    /// Title.
    pub name: String,
    /// Summary in one line (L0).
    #[serde(rename = "abstract")]
    pub summary: String,
    /// Score for this query, from 0 to 1.
    pub score: f64,
    /// Signals behind the score, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals: Option<HitSignals>,
    /// Factors of the score, if explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factors: Option<ScoreFactors>,
}

impl Engine {
    /// Returns the memories of a folder that answer a query, best first. Fails if the limit is out of range, or if the
    /// URI is invalid, names nothing, or is not searchable by meaning.
    pub async fn fs_find(&self, scope: &Scope, request: &FsFindRequest) -> Result<FsFindReport> {
        super::check_limit(request.limit)?;
        Self::check_query(&request.query)?;
        let recall_request = self.recall_request(scope, request.query.as_str());
        let recall_request = RecallRequest {
            limit: request.limit,
            min_score: request.min_score,
            ..self.confine_to_folder(recall_request, &request.uri).await?
        };
        let recalled = self.recall(&recall_request).await?;
        let to_hit = |hit| to_fs_hit(scope, hit, request.explain);
        let found = recalled.hits.into_iter().map(to_hit).collect();
        Ok(FsFindReport { found, confidence: recalled.confidence })
    }

    /// Returns the request confined to a folder. Fails if the URI is invalid or names nothing.
    pub(super) async fn confine_to_folder(
        &self,
        request: RecallRequest,
        uri: &str,
    ) -> Result<RecallRequest> {
        let scope = &request.scope;
        let fs_uri = FsUri::parse(uri, scope)?;
        let area = SearchArea::for_uri(&fs_uri, scope)?;
        if fs_uri != FsUri::Root {
            self.resolve_node(scope, &fs_uri).await?;
        }
        let within = self.area_filter(scope, &area).await?;
        Ok(RecallRequest { filter: area.filter(), within, ..request })
    }

    /// Returns the memories of a folder where neither kind nor session determines them.
    async fn area_filter(&self, scope: &Scope, area: &SearchArea) -> Result<Option<AddressQuery>> {
        Ok(match area {
            SearchArea::All | SearchArea::NoTurns | SearchArea::Turns | SearchArea::Session(_) => {
                None
            }
            SearchArea::Uri(uri) => Some(AddressQuery::Folder(uri.clone())),
            SearchArea::Document(parts) => {
                let all = self.all_documents(scope).await?.into_iter();
                let matching = all.filter(|one| document_parts(&one.path).starts_with(parts));
                Some(AddressQuery::Ids(matching.flat_map(|one| one.chunks).collect()))
            }
        })
    }
}

/// Set of memories that a folder contains.
enum SearchArea {
    All,
    NoTurns,
    Turns,
    Uri(String),
    Document(Vec<String>),
    Session(String),
}

impl SearchArea {
    fn for_uri(fs_uri: &FsUri, scope: &Scope) -> Result<Self> {
        Ok(match fs_uri {
            FsUri::Root => Self::All,
            FsUri::Kinds => Self::NoTurns,
            FsUri::Memory(path) => Self::Uri(root_uri(scope) + path),
            FsUri::File(_) => Self::Uri(root_uri(scope) + "knowledge/memories"),
            FsUri::Document(parts) => Self::Document(parts.clone()),
            FsUri::Sessions => Self::Turns,
            FsUri::Session(name) => Self::Session(name.clone()),
            FsUri::Layers | FsUri::Layer(_) | FsUri::Days | FsUri::Day(_) | FsUri::Turn(_) => {
                return Err(Error::invalid(
                    format!("`{}` cannot be searched by meaning", fs_uri.uri(scope)),
                    "layers are always in the prompt; search their text with `grep`",
                ));
            }
        })
    }

    /// Returns the part of the restriction that the index evaluates.
    fn filter(&self) -> MemoryFilter {
        match self {
            Self::All => MemoryFilter::default(),
            Self::Turns => MemoryFilter { kinds: vec![Kind::Turn], ..MemoryFilter::default() },
            Self::Session(name) => {
                MemoryFilter { session: Some(name.clone()), ..MemoryFilter::default() }
            }
            Self::NoTurns | Self::Uri(_) | Self::Document(_) => {
                MemoryFilter { kinds: Kind::statements(), ..MemoryFilter::default() }
            }
        }
    }
}

fn to_fs_hit(scope: &Scope, hit: Hit, explain: bool) -> FsHit {
    let memory = &hit.memory;
    let document = chunk_origin(memory);
    let document = document.map(|(path, _)| FsUri::Document(document_parts(path)).uri(scope));
    FsHit {
        uri: memory.uri.clone(),
        document,
        id: memory.id,
        kind: memory.kind,
        name: memory.name.clone(),
        summary: tiers::memory_line(memory),
        score: hit.score,
        signals: explain.then_some(hit.signals),
        factors: explain.then_some(hit.factors),
    }
}
