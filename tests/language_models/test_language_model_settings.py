from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from misheard.language_models.registry import make_language_model
from misheard.language_models.settings import (
    ApiSettings,
    EmbeddedSettings,
    FakeSettings,
    LanguageModelSettings,
    VllmSettings,
)

ADAPTER: TypeAdapter[object] = TypeAdapter(LanguageModelSettings)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ({"kind": "embedded", "model": "m"}, EmbeddedSettings),
        ({"kind": "openai_api", "model": "m", "base_url": "http://h/v1"}, ApiSettings),
        ({"kind": "vllm", "model": "m"}, VllmSettings),
        ({"kind": "fake"}, FakeSettings),
    ],
)
def test_kind_tells_the_backends_apart(raw: dict[str, object], kind: type, tmp_path: Path) -> None:
    settings = ADAPTER.validate_python(raw)
    assert isinstance(settings, kind)
    assert ADAPTER.validate_json(ADAPTER.dump_json(settings)) == settings
    model = make_language_model(settings, logs=tmp_path, cpu=True)  # type: ignore[arg-type]
    model.close()
    model.close()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({"kind": "embedded", "model": "m", "modle": "x"}, "modle"),
        ({"kind": "embedded", "model": "m", "revision": "main"}, "revision"),
        ({"kind": "embedded", "model": "m", "batch_size": 0}, "batch_size"),
        ({"kind": "openai_api", "model": "m", "base_url": "127.0.0.1:8000"}, "such as http"),
        ({"kind": "openai_api", "model": "m", "base_url": "http://u:p@h/v1"}, "no credentials"),
        ({"kind": "openai_api", "model": "m", "base_url": "http://h/v1?key=x"}, "no query"),
        ({"kind": "openai_api", "model": "m", "base_url": "http://h/v1", "max_attempts": 0}, "max_attempts"),
        ({"kind": "vllm", "model": "m", "extra_args": ["--enable-log-requests"]}, "--enable-log-requests"),
        ({"kind": "vllm", "model": "m", "extra_args": ["--max_model_len=5"]}, "--max-model-len"),
        ({"kind": "fake", "failures": {"x": "bad"}}, "failures"),
        ({"kind": "magic"}, "magic"),
    ],
)
def test_bad_settings_name_the_field(raw: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        ADAPTER.validate_python(raw)


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://127.8.8.8/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://localhost/v1", True),
        ("http://a.localhost/v1", True),
        ("http://localhost.example.com/v1", False),
        ("http://10.0.0.1/v1", False),
        ("https://example.com/v1", False),
    ],
)
def test_loopback_is_recognized(url: str, loopback: bool) -> None:
    assert ApiSettings(base_url=url, model="m").is_loopback is loopback
