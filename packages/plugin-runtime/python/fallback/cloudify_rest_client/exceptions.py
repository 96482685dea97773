"""Errors of the REST service: one class for each error code that callers tell apart."""


class CloudifyClientError(Exception):
    """An answer of the manager other than success."""
    ERROR_CODE = None

    def __init__(self, message, server_traceback=None, status_code=-1, error_code=None, response=None):
        super(CloudifyClientError, self).__init__(message)
        self.status_code = status_code
        self.error_code = error_code
        self.server_traceback = server_traceback
        self.response = response

    def __str__(self):
        message = super(CloudifyClientError, self).__str__()
        return message if self.status_code == -1 else '%s: %s' % (self.status_code, message)


def _error(name, code):
    kind = type(name, (CloudifyClientError,), {'ERROR_CODE': code, '__module__': __name__})
    ERROR_MAPPING[code] = kind
    return kind


ERROR_MAPPING = {}
for _name, _code in (
        ('DeploymentEnvironmentCreationInProgressError', 'deployment_environment_creation_in_progress_error'),
        ('DeploymentEnvironmentCreationPendingError', 'deployment_environment_creation_pending_error'),
        ('IllegalExecutionParametersError', 'illegal_execution_parameters_error'),
        ('NoSuchIncludeFieldError', 'no_such_include_field_error'),
        ('MissingRequiredDeploymentInputError', 'missing_required_deployment_input_error'),
        ('UnknownDeploymentInputError', 'unknown_deployment_input_error'),
        ('UnknownDeploymentSecretError', 'unknown_deployment_secret_error'),
        ('UnsupportedDeploymentGetSecretError', 'unsupported_deployment_get_secret_error'),
        ('FunctionsEvaluationError', 'functions_evaluation_error'),
        ('UnknownModificationStageError', 'unknown_modification_stage_error'),
        ('ExistingStartedDeploymentModificationError', 'existing_started_deployment_modification_error'),
        ('DeploymentModificationAlreadyEndedError', 'deployment_modification_already_ended_error'),
        ('UserUnauthorizedError', 'unauthorized_error'),
        ('ForbiddenError', 'forbidden_error'),
        ('PluginInUseError', 'plugin_in_use'),
        ('BlueprintInUseError', 'blueprint_in_use'),
        ('PluginInstallationError', 'plugin_installation_error'),
        ('PluginInstallationTimeout', 'plugin_installation_timeout'),
        ('MaintenanceModeActiveError', 'maintenance_mode_active'),
        ('MaintenanceModeActivatingError', 'entering_maintenance_mode'),
        ('NotModifiedError', 'not_modified'),
        ('InvalidExecutionUpdateStatus', 'invalid_exception_status_update'),
        ('NotClusterMaster', 'not_cluster_master'),
        ('RemovedFromCluster', 'removed_from_cluster'),
        ('DeploymentPluginNotFound', 'deployment_plugin_not_found'),
        ('IncompatibleClusterArchitectureError', 'incompatible_cluster_architecture'),
        ('ExpiredCloudifyLicense', 'expired_cloudify_license'),
        ('MissingCloudifyLicense', 'missing_cloudify_license'),
        ('DeploymentParentNotFound', 'deployment_parent_not_found_error'),
        ('ForbiddenWhileCancelling', 'forbidden_while_cancelling')):
    globals()[_name] = _error(_name, _code)


class InvalidFilterRule(CloudifyClientError):
    ERROR_CODE = 'invalid_filter_rule'

    def __init__(self, message, server_traceback=None, status_code=-1, error_code=None, response=None):
        super(InvalidFilterRule, self).__init__(message, server_traceback, status_code, error_code, response)
        self.err_filter_rule = (response or {}).get('err_filter_rule')
        self.err_reason = (response or {}).get('err_reason')


ERROR_MAPPING[InvalidFilterRule.ERROR_CODE] = InvalidFilterRule
