"""Waiting for what other deployments do."""
import time

from cloudify import ctx

POLLING_INTERVAL = 1


def poll_with_timeout(pollster, timeout, interval=POLLING_INTERVAL, expected_result=True):
    """Asks pollster() every `interval` seconds: whether it answered what is expected within `timeout` seconds (-1: no end)."""
    end = float('inf') if timeout == -1 else time.monotonic() + timeout
    while pollster() != expected_result:
        if time.monotonic() + interval > end:
            ctx.logger.error('Not there after %s seconds' % timeout)
            return False
        time.sleep(interval)
    return True
