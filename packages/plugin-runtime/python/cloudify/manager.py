"""Calls to the manager that scripts use; those of the REST client come with the Python plugins."""
from cloudify.context import DirtyTrackingDict, ctx
from cloudify.exceptions import NonRecoverableError

__all__ = ['DirtyTrackingDict', 'download_resource', 'get_resource_from_manager', 'get_rest_client']


def get_resource_from_manager(resource_path, *_, **__):
    return ctx.get_resource(resource_path)


def download_resource(resource_path, logger=None, target_path=None):
    return ctx.download_resource(resource_path, target_path)


def get_rest_client(tenant=None, api_token=None):
    raise NonRecoverableError('get_rest_client is not available to scripts on this manager yet')
