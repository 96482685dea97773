"""A lean client of the manager's REST service, for code that brings no client library of its own.

Its names are those of the common one; resources.py lists what there is.
"""
from cloudify_rest_client.client import CloudifyClient

__all__ = ['CloudifyClient']
