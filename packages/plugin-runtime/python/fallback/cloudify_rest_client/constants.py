"""Names that callers of the REST service compare with."""
from cloudify.models_states import VisibilityState

VISIBILITY_EXCEPT_PRIVATE = [VisibilityState.TENANT, VisibilityState.GLOBAL]

__all__ = ['VISIBILITY_EXCEPT_PRIVATE', 'VisibilityState']
