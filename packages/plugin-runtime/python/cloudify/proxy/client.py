"""Where programs find the ctx proxy of their operation."""
from cloudify.exceptions import ScriptException

CTX_SOCKET_URL = 'CTX_SOCKET_URL'

__all__ = ['CTX_SOCKET_URL', 'ScriptException']
