"""What a failed attempt means: which failure it is, and whether another attempt may help.

Details hold the status at most. Bodies may quote the prompt, so they are looked at and never kept.
"""

import ssl
import time
from dataclasses import dataclass
from typing import Any

from misheard.failures import FailureKind
from misheard.language_models.chat_stream import MalformedReplyError
from misheard.language_models.http_client import ReplyRefusedError
from misheard.language_models.retries import is_retried_status, parse_retry_after

_TOO_LONG = ("maximum context length", "context_length_exceeded", "context length exceeded")
_NO_TEMPLATE = ("chat template", "chat_template")


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """A failed attempt. `retry_after` is in seconds; `status` is the HTTP status where one came back."""

    kind: FailureKind
    detail: str
    attempts: int
    retry: bool = False
    retry_after: float | None = None
    status: int | None = None
    no_chat_template: bool = False

    def startup_hint(self, api_key_env: str | None) -> str:
        """Return what is wrong and what to do, for the first question to a server."""
        if self.no_chat_template:
            return (
                "serves a model without a chat template: "
                "choose an instruct model, or give the server one with --chat-template"
            )
        hint = ""
        if self.status in {401, 403}:
            hint = (
                f"; check the key in {api_key_env}"
                if api_key_env
                else "; name the key's variable in api_key_env"
            )
        elif self.status == 404:
            hint = "; base_url usually ends in /v1"
        elif self.status == 400:
            hint = "; a server that refuses unknown parameters needs extra_sampling: false"
        return f"did not answer a first question: {self.kind} ({self.detail}){hint}"


def classify(error: Exception, attempts: int) -> AttemptFailed:
    """Return what the exception of one attempt means."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return _from_status(error, attempts)
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return AttemptFailed(FailureKind.TIMEOUT, "no full reply in time", attempts, retry=True)
    refused = error if isinstance(error, ReplyRefusedError) else error.__cause__
    if isinstance(refused, ReplyRefusedError):
        return AttemptFailed(FailureKind.LLM_ERROR, str(refused), attempts)
    tls = _tls_error(error)
    if tls is not None:
        refused_certificate = isinstance(tls, ssl.SSLCertVerificationError)
        detail = f"TLS failed: {getattr(tls, 'reason', None) or type(tls).__name__}"
        return AttemptFailed(FailureKind.LLM_ERROR, detail, attempts, retry=not refused_certificate)
    if isinstance(error, openai.APIConnectionError | ConnectionError) or _is_transport_error(error):
        return AttemptFailed(FailureKind.LLM_ERROR, "connection failed or dropped", attempts, retry=True)
    if isinstance(error, openai.APIError):
        return _from_body(error, attempts)
    if isinstance(error, UnicodeEncodeError):
        return AttemptFailed(FailureKind.LLM_ERROR, "the prompt is no valid Unicode text", attempts)
    detail = str(error) if isinstance(error, MalformedReplyError) else type(error).__name__
    return AttemptFailed(FailureKind.LLM_ERROR, f"malformed reply: {detail}", attempts)


def context_overflow(
    prompt: int | None, max_tokens: int, context: int | None, attempts: int
) -> AttemptFailed | None:
    """Return a failure where the server silently shortened the answer's budget to fit its context.

    vLLM lowers max_tokens to what the prompt leaves; the embedded backend refuses the same prompt. Counts are
    in tokens, None where the server does not tell.
    """
    if context is None or prompt is None or prompt + max_tokens <= context:
        return None
    detail = f"{prompt} prompt tokens and max_tokens {max_tokens} exceed the context of {context}"
    return AttemptFailed(FailureKind.PROMPT_TOO_LONG, detail, attempts=attempts)


def _from_status(error: Any, attempts: int) -> AttemptFailed:
    status = int(error.status_code)
    says = _says(error.body)
    if status in {400, 413, 422} and any(phrase in says for phrase in _TOO_LONG):
        return AttemptFailed(
            FailureKind.PROMPT_TOO_LONG, "the server's context is too short", attempts, status=status
        )
    retry_after = parse_retry_after(error.response.headers.get("retry-after"), time.time())
    kind = FailureKind.TIMEOUT if status in {408, 504} else FailureKind.LLM_ERROR
    return AttemptFailed(
        kind,
        f"HTTP status {status}",
        attempts,
        retry=is_retried_status(status),
        retry_after=retry_after,
        status=status,
        no_chat_template=status in {400, 500} and any(phrase in says for phrase in _NO_TEMPLATE),
    )


def _from_body(error: Any, attempts: int) -> AttemptFailed:
    """Classify an error that came as an event of a stream, under status 200."""
    code = error.body.get("code") if isinstance(error.body, dict) else None
    status = code if isinstance(code, int) and 400 <= code <= 599 else None
    said = "" if status is None else f" with code {status}"
    retry = status is not None and is_retried_status(status)
    return AttemptFailed(
        FailureKind.LLM_ERROR, f"error in the reply{said}", attempts, retry=retry, status=status
    )


def _says(body: Any) -> str:
    """Return the error's own words, lower-cased and bounded, to be searched and never shown."""
    if isinstance(body, dict):
        body = " ".join(str(body.get(name, ""))[:4096] for name in ("message", "code", "type"))
    return str(body)[:8192].lower()


def _tls_error(error: BaseException | None) -> ssl.SSLError | None:
    """Return the TLS error below an exception; its `reason` is a name such as CERTIFICATE_VERIFY_FAILED."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _is_transport_error(error: Exception) -> bool:
    """Return whether the HTTP library raised it: the SDK lets some of its errors through while streaming."""
    return type(error).__module__.partition(".")[0] in {"httpx", "httpx2", "httpcore", "httpcore2", "anyio"}
