"""Dependencies between deployments as the REST service takes them."""
DEPENDENCY_CREATOR = 'dependency_creator'
SOURCE_DEPLOYMENT = 'source_deployment'
TARGET_DEPLOYMENT = 'target_deployment'
TARGET_DEPLOYMENT_FUNC = 'target_deployment_func'
EXTERNAL_SOURCE = 'external_source'
EXTERNAL_TARGET = 'external_target'

_NAMES = {DEPENDENCY_CREATOR, SOURCE_DEPLOYMENT, TARGET_DEPLOYMENT, TARGET_DEPLOYMENT_FUNC, EXTERNAL_SOURCE,
          EXTERNAL_TARGET, 'id', 'visibility', 'created_at', 'created_by'}


def build_deployment_dependency(dependency_creator, **kwargs):
    """The dictionary of a dependency, without what is None. Raises RuntimeError for names that it does not have."""
    unknown = sorted(set(kwargs) - _NAMES)
    if unknown:
        raise RuntimeError('A dependency between deployments has no %s' % ', '.join(unknown))
    given = {name: value for name, value in kwargs.items() if value is not None}
    return dict(given, dependency_creator=dependency_creator)


def create_deployment_dependency(dependency_creator, source_deployment=None, target_deployment=None,
                                 target_deployment_func=None, external_source=None, external_target=None):
    """The same by its older name, which leaves out what is empty."""
    given = dict(source_deployment=source_deployment, target_deployment=target_deployment,
                 target_deployment_func=target_deployment_func, external_source=external_source,
                 external_target=external_target)
    return build_deployment_dependency(dependency_creator, **{name: value or None for name, value in given.items()})


def format_dependency_creator(connection_type, to_deployment):
    return '%s.%s' % (connection_type, to_deployment)


dependency_creator_generator = format_dependency_creator
