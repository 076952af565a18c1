//! Answers: JSON, or what is wrong with a question.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An answer in JSON.
#[derive(Debug)]
pub(crate) struct Json(Vec<u8>);

#[cfg(test)]
impl Json {
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Error {
    #[serde(skip)]
    status: StatusCode,
    #[serde(rename = "error")]
    message: String,
    remedy: String,
}

pub(crate) type Answer = Result<Json, Error>;

/// Writes an answer.
pub(crate) fn json(value: &impl Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(bytes) => Ok(Json(bytes)),
        Err(error) => Err(Error::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("the answer cannot be written: {error}"),
            "report it",
        )),
    }
}

impl Error {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error { status, message: error.into(), remedy: remedy.into() }
    }

    /// The question is wrong.
    pub(crate) fn question(error: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(StatusCode::BAD_REQUEST, error, remedy)
    }

    pub(crate) fn not_found(error: impl Into<String>) -> Error {
        Error::new(StatusCode::NOT_FOUND, error, "docs/view-api.md lists what there is")
    }

    /// It needs times, and the run is a profile.
    pub(crate) fn profile() -> Error {
        Error::new(
            StatusCode::NOT_FOUND,
            "this run is a profile: nothing is known of when things happened",
            "record without --profile",
        )
    }
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.0));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = self.status;
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Json(body).into_response();
        *response.status_mut() = status;
        response
    }
}
