//! The table of routes: both the router and the document that describes it are generated from it, so that they agree.

use std::collections::BTreeMap;

use axum::Router;
use axum::routing::MethodRouter;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::error::ErrorBody;
use super::state::Shared;
use protocol_spec::version;

/// The common prefix of all routes.
const PREFIX: &str = "/api/v1";

/// One operation of the API.
pub(super) struct Operation {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    query: Option<Describe>,
    body: Option<Body>,
    answers: Vec<(u16, Option<(&'static str, Describe)>)>,
    refusals: &'static [u16],
}

type Describe = fn(&mut SchemaGenerator) -> Schema;

enum Body {
    Json(Describe),
    Bytes,
}

impl Operation {
    pub(super) fn new(method: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self {
            method,
            path,
            summary,
            query: None,
            body: None,
            answers: Vec::new(),
            refusals: &[],
        }
    }

    pub(super) fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(|generator| T::json_schema(generator));
        self
    }

    pub(super) fn takes<T: JsonSchema>(mut self) -> Self {
        self.body = Some(Body::Json(|generator| generator.subschema_for::<T>()));
        self
    }

    pub(super) fn takes_bytes(mut self) -> Self {
        self.body = Some(Body::Bytes);
        self
    }

    pub(super) fn gives<T: JsonSchema>(self, status: u16) -> Self {
        self.gives_as::<T>(status, "application/json")
    }

    pub(super) fn gives_as<T: JsonSchema>(mut self, status: u16, kind: &'static str) -> Self {
        self.answers
            .push((status, Some((kind, |generator| generator.subschema_for::<T>()))));
        self
    }

    pub(super) fn gives_nothing(mut self) -> Self {
        self.answers.push((204, None));
        self
    }

    pub(super) fn refuses(mut self, statuses: &'static [u16]) -> Self {
        self.refusals = statuses;
        self
    }
}

/// A builder of routes and their description.
pub(super) struct Table {
    router: Router<Shared>,
    description: Description,
}

impl Table {
    pub(super) fn new() -> Self {
        Self {
            router: Router::new(),
            description: Description {
                operations: Vec::new(),
            },
        }
    }

    /// Adds a route and describes it.
    pub(super) fn route(mut self, operation: Operation, handler: MethodRouter<Shared>) -> Self {
        let path = format!("{PREFIX}{}", operation.path);
        self.router = self.router.route(&path, handler);
        self.description.operations.push((Listener::Page, operation));
        self
    }

    /// Describes an operation that another listener serves at the same path.
    pub(super) fn describe_outside(mut self, operation: Operation) -> Self {
        self.description.operations.push((Listener::Outside, operation));
        self
    }

    /// Returns the router and its description.
    pub(super) fn finish(self) -> (Router<Shared>, Description) {
        (self.router, self.description)
    }
}

/// The listener of an operation.
#[derive(Clone, Copy, PartialEq)]
enum Listener {
    Page,
    Outside,
}

/// The description of the API. The document is generated on request, so that it does not delay the start of the broker.
pub(super) struct Description {
    operations: Vec<(Listener, Operation)>,
}

impl Description {
    /// Writes the document.
    pub(super) fn document(&self) -> Value {
        let mut writer = Writer::new();
        let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
        for (listener, operation) in &self.operations {
            let mut described = writer.describe(operation);
            let path = match listener {
                Listener::Page => format!("{PREFIX}{}", operation.path),
                Listener::Outside => {
                    described["servers"] = json!([{ "url": "/", "description": "the listener for agents elsewhere (`public_listen`)" }]);
                    operation.path.to_owned()
                }
            };
            paths
                .entry(path)
                .or_default()
                .insert(operation.method.to_owned(), described);
        }
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "cueme",
                "version": version::PROGRAM,
                "description": "Everything the inbox does. Agents speak below /hap with tokens of their own.",
            },
            "paths": paths,
            "components": {
                "schemas": writer.schemas(),
                "securitySchemes": {
                    "cookie": { "type": "apiKey", "in": "cookie", "name": "cueme" },
                    "bearer": { "type": "http", "scheme": "bearer" },
                },
            },
            "security": [{ "cookie": [] }, { "bearer": [] }],
        })
    }
}

/// Describes operations one after the other, and collects the types they name.
struct Writer {
    generator: SchemaGenerator,
}

impl Writer {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self {
            generator: settings.into_generator(),
        }
    }

    /// Returns the types that were named, and that of errors, which every operation may answer with.
    fn schemas(mut self) -> Map<String, Value> {
        self.generator.subschema_for::<ErrorBody<'static>>();
        self.generator.take_definitions(true)
    }

    fn describe(&mut self, operation: &Operation) -> Value {
        let mut parameters: Vec<Value> = names_in(operation.path)
            .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
            .collect();
        if let Some(query) = operation.query {
            parameters.extend(query_parameters(&query(&mut self.generator)));
        }
        let mut described = json!({
            "summary": operation.summary,
            "parameters": parameters,
            "responses": self.responses(operation),
        });
        if let Some(body) = &operation.body {
            let content = match body {
                Body::Json(describe) => {
                    json!({ "application/json": { "schema": describe(&mut self.generator) } })
                }
                Body::Bytes => json!({ "application/octet-stream": { "schema": {} } }),
            };
            described["requestBody"] = json!({ "required": true, "content": content });
        }
        described
    }

    fn responses(&mut self, operation: &Operation) -> Value {
        let mut responses = Map::new();
        for (status, answer) in &operation.answers {
            let mut response = json!({ "description": "done" });
            if let Some((kind, describe)) = answer {
                let mut content = Map::new();
                content.insert(
                    (*kind).to_owned(),
                    json!({ "schema": describe(&mut self.generator) }),
                );
                response["content"] = Value::Object(content);
            }
            responses.insert(status.to_string(), response);
        }
        let error = self.generator.subschema_for::<ErrorBody<'static>>();
        // Any caller can be turned away, and any request can be too much at once.
        for status in operation
            .refusals
            .iter()
            .chain(&[400, 401, 403, 404, 408, 413, 415, 429, 503])
        {
            let refusal =
                json!({ "description": "refused", "content": { "application/json": { "schema": error } } });
            responses.entry(status.to_string()).or_insert(refusal);
        }
        Value::Object(responses)
    }
}

fn names_in(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|part| part.split('}').next())
}

fn query_parameters(schema: &Schema) -> Vec<Value> {
    let schema = schema.as_value();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    properties
        .into_iter()
        .map(|(name, schema)| {
            let is_required = required.iter().any(|wanted| *wanted == name);
            json!({ "name": name, "in": "query", "required": is_required, "schema": schema })
        })
        .collect()
}
