//! Replies: JSON, or why there is none, with its status.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use partune_pages::{Answer, Fault};
use serde::Serialize;

/// Why there is no answer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Error {
    #[serde(skip)]
    status: StatusCode,
    #[serde(rename = "error")]
    message: String,
    remedy: String,
}

impl Error {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error { status, message: error.into(), remedy: remedy.into() }
    }

    pub(crate) fn not_found(error: impl Into<String>) -> Error {
        Error::new(StatusCode::NOT_FOUND, error, "docs/view-api.md lists what there is")
    }
}

impl From<partune_pages::Error> for Error {
    fn from(error: partune_pages::Error) -> Error {
        let status = match error.fault {
            Fault::Question => StatusCode::BAD_REQUEST,
            Fault::Unknown => StatusCode::NOT_FOUND,
            Fault::NotReady => StatusCode::CONFLICT,
            Fault::Own => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Error::new(status, error.message, error.remedy)
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        json(self.status, serde_json::to_vec(&self).unwrap_or_default())
    }
}

/// The reply to a question.
pub(crate) fn reply(answer: Answer) -> Response {
    answer.map_or_else(|error| Error::from(error).into_response(), |bytes| json(StatusCode::OK, bytes))
}

fn json(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
