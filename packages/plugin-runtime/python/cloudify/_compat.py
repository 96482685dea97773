"""Names of Python 2 and 3 that libraries of plugins import from here."""
import http.client as httplib  # noqa: F401
import queue  # noqa: F401
import xmlrpc.client as xmlrpclib  # noqa: F401
from abc import ABC  # noqa: F401
from configparser import ConfigParser as SafeConfigParser  # noqa: F401
from io import StringIO  # noqa: F401
from urllib.parse import parse_qs, quote as urlquote, unquote, urlencode, urljoin, urlparse  # noqa: F401
from urllib.request import pathname2url, urlopen  # noqa: F401
from uuid import uuid4 as _uuid4

PY2 = False
text_type = str
exec_ = exec


def reraise(exception_type, value, traceback):
    raise value.with_traceback(traceback)


def uuid4():
    return str(_uuid4())


def __getattr__(name):
    if name == 'parse_version':
        from packaging.version import parse
        return parse
    raise AttributeError(name)
