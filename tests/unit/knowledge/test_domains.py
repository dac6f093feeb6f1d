"""Under which key knowledge stands: in the whole workspace or in one repository."""

from __future__ import annotations

import pytest

from gedaechtnis.common.problems import Problem
from gedaechtnis.knowledge import domains


@pytest.mark.parametrize(
    ("text", "repo", "key"),
    [
        ("architecture", None, "architecture"),
        (" Architecture ", None, "architecture"),
        ("architecture", "Shop", "repo:shop/architecture"),
        ("repo:shop/architecture", None, "repo:shop/architecture"),
        ("repo:shop/architecture", "shop", "repo:shop/architecture"),
        ("KU\u0308CHE", None, "küche"),
        ("code-style.v2_b", None, "code-style.v2_b"),
    ],
)
def test_a_key_is_written_in_one_way(text: str, repo: str | None, key: str) -> None:
    assert str(domains.parse(text, repo=repo)) == key
    assert str(domains.parse(key)) == key


@pytest.mark.parametrize(
    ("text", "repo", "code"),
    [
        ("", None, "invalid_domain"),
        ("a b", None, "invalid_domain"),
        ("repo:shop", None, "invalid_domain"),
        ("repo:shop/a/b", None, "invalid_domain"),
        ("repo:/a", None, "invalid_repo"),
        ("x" * 101, None, "invalid_domain"),
        ("a", "x" * 81, "invalid_repo"),
        ("a", "shop/b", "invalid_repo"),
        ("repo:shop/a", "blog", "conflicting_fields"),
    ],
)
def test_what_is_no_key_is_refused(text: str, repo: str | None, code: str) -> None:
    with pytest.raises(Problem) as refused:
        domains.parse(text, repo=repo)
    assert refused.value.code == code
