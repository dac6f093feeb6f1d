"""What open lines wait at."""

from __future__ import annotations

from channels.layers import get_channel_layer


def test_an_idle_line_is_not_given_up_while_it_waits() -> None:
    layer = get_channel_layer()
    assert [host["socket_timeout"] > layer.brpop_timeout for host in layer.hosts] == [True]
