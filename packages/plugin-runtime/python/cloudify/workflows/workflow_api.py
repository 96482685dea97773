"""The name under which older code knows `api`."""
import sys

from cloudify.workflows import api

sys.modules[__name__] = api
