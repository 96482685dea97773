/**
 * Every machine-readable error code of the API (reference/rest-api.md ch. 1.3) with its transports.
 * `grpc` is the numeric status code of gRPC; `retryable` says that the same call may succeed later unchanged.
 */
export interface ErrorEntry {
  http: number;
  grpc: number;
  retryable: boolean;
  doc: string;
}

const INVALID = 3;
const DEADLINE = 4;
const NOT_FOUND = 5;
const EXISTS = 6;
const DENIED = 7;
const EXHAUSTED = 8;
const PRECONDITION = 9;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

const entry = (http: number, grpc: number, doc: string, retryable = false): ErrorEntry => ({
  http,
  grpc,
  retryable,
  doc,
});

export const errorTable = {
  access_denied: entry(400, DENIED, 'A person has denied the login that a program asked for.'),
  ambiguous_name: entry(409, PRECONDITION, 'A single read matches several objects.'),
  authorization_pending: entry(400, PRECONDITION, 'Nobody has approved the login of the program yet.', true),
  bad_parameters_error: entry(
    400,
    INVALID,
    'A parameter, field, header or body is malformed, missing or not allowed.',
  ),
  blueprint_in_use: entry(405, PRECONDITION, 'The blueprint is imported by another blueprint.'),
  community_only_error: entry(404, NOT_FOUND, 'Only a manager of the community edition has this.'),
  conflict_error: entry(409, EXISTS, 'The id is taken, or the object changed or is in the wrong state.'),
  cross_site_request_error: entry(
    403,
    DENIED,
    'A request with a session cookie, or a sign-in, does not come from a page of the manager itself.',
  ),
  dependent_exists_error: entry(400, PRECONDITION, 'Something that exists still depends on the object.'),
  deployment_capabilities_evaluation_error: entry(
    400,
    INVALID,
    'A function in a capability cannot be evaluated.',
  ),
  deployment_creation_error: entry(400, INVALID, 'The deployment could not be created.'),
  deployment_environment_creation_in_progress_error: entry(
    400,
    PRECONDITION,
    'The deployment is still being created.',
    true,
  ),
  deployment_environment_creation_pending_error: entry(
    400,
    PRECONDITION,
    'The deployment waits to be created.',
    true,
  ),
  deployment_modification_already_ended_error: entry(
    400,
    PRECONDITION,
    'The deployment modification has ended.',
  ),
  deployment_outputs_evaluation_error: entry(400, INVALID, 'A function in an output cannot be evaluated.'),
  deployment_parent_not_found_error: entry(404, NOT_FOUND, 'The csys-obj-parent label names no deployment.'),
  deployment_plugin_not_found: entry(
    400,
    PRECONDITION,
    'A plugin that the plan needs is not on the manager.',
  ),
  entering_maintenance_mode: entry(503, UNAVAILABLE, 'Writes wait while maintenance mode starts.', true),
  existing_running_execution_error: entry(
    400,
    PRECONDITION,
    'Another execution runs; queue or force this one.',
  ),
  existing_started_deployment_modification_error: entry(
    400,
    PRECONDITION,
    'A deployment modification is already started.',
  ),
  expired_cloudify_license: entry(400, PRECONDITION, 'The trial license expired.'),
  expired_token: entry(
    400,
    PRECONDITION,
    'The login that a program asked for is over: too old, used, or never begun.',
  ),
  failed_dependency: entry(400, UNAVAILABLE, 'A secret provider could not be reached or refused.'),
  forbidden_error: entry(403, DENIED, 'The user may not do this, or the tenant is missing or unknown.'),
  forbidden_while_cancelling: entry(403, DENIED, 'The execution that asks is being cancelled.'),
  functions_evaluation_error: entry(400, INVALID, 'An intrinsic function cannot be evaluated.'),
  illegal_action_error: entry(400, PRECONDITION, 'The action is not possible in this state.'),
  illegal_execution_parameters_error: entry(
    400,
    INVALID,
    'Workflow parameters are missing, undeclared or of the wrong type.',
  ),
  imported_blueprint_not_found: entry(404, NOT_FOUND, 'A blueprint named in an import is not available.'),
  in_snapshot_restore_error: entry(503, UNAVAILABLE, 'A snapshot is being restored.', true),
  insufficient_storage_error: entry(
    507,
    EXHAUSTED,
    'A disk of the manager is full, or a tenant holds as much as it may.',
    true,
  ),
  insufficient_memory_error: entry(503, EXHAUSTED, 'The manager is short of memory.', true),
  internal_server_error: entry(500, INTERNAL, 'A fault in the manager; its log has the details.'),
  invalid_blueprint_error: entry(400, INVALID, 'The blueprint or its archive is not valid.'),
  invalid_exception_status_update: entry(400, PRECONDITION, 'The execution cannot go to that status.'),
  invalid_fernet_token_format_error: entry(
    500,
    INTERNAL,
    'A stored secret cannot be decrypted with the current key.',
  ),
  invalid_filter_rule: entry(400, INVALID, 'A filter rule is malformed.'),
  invalid_plugin_error: entry(400, INVALID, 'The plugin archive is not valid.'),
  invalid_workflow_availability_rule_error: entry(400, INVALID, 'A workflow availability rule is not valid.'),
  invalid_yaml_format: entry(400, INVALID, 'The body is not valid YAML.'),
  log_bundle_action_error: entry(400, PRECONDITION, 'The log bundle is in the wrong state.'),
  maintenance_mode_active: entry(503, UNAVAILABLE, 'The manager is in maintenance mode.', true),
  method_not_allowed_error: entry(405, INVALID, 'The path exists, the method does not.'),
  missing_cloudify_license: entry(400, PRECONDITION, 'No license was uploaded.'),
  missing_required_deployment_input_error: entry(400, INVALID, 'A required input has no value.'),
  no_such_include_field_error: entry(400, INVALID, '_include names a field that the resource does not have.'),
  multiple_files_upload_exception: entry(500, INVALID, 'A PUT to the file server holds more than one file.'),
  nonexistent_workflow_error: entry(400, INVALID, 'The deployment has no such workflow.'),
  not_found_error: entry(404, NOT_FOUND, 'No such object, or none that the user may see.'),
  only_deployment_update: entry(403, DENIED, 'Only a running deployment update may change this.'),
  plugin_in_use: entry(405, PRECONDITION, 'The plugin is used by a blueprint.'),
  plugins_update_failed: entry(400, PRECONDITION, 'The plugins update left deployments behind.'),
  range_not_satisfiable_error: entry(416, INVALID, 'The range of bytes lies behind the end of the file.'),
  request_body_timeout_error: entry(408, DEADLINE, 'The body of the request came too slowly.', true),
  request_timeout_error: entry(504, DEADLINE, 'A service did not answer in time.', true),
  service_unavailable_error: entry(503, UNAVAILABLE, 'A service of the manager does not answer.', true),
  slow_down: entry(400, EXHAUSTED, 'The program asks too often whether its login was approved.', true),
  snapshot_action_error: entry(400, PRECONDITION, 'The snapshot is in the wrong state.'),
  stale_attempt_error: entry(
    409,
    ABORTED,
    'The result belongs to an attempt that was given to another worker.',
  ),
  storage_error: entry(409, ABORTED, 'The database refused the write.'),
  too_many_requests_error: entry(429, EXHAUSTED, 'A limit was reached.', true),
  unauthorized_error: entry(401, UNAUTHENTICATED, 'The credentials are missing or wrong.'),
  unavailable_workflow_error: entry(400, PRECONDITION, 'The availability rules of the workflow are not met.'),
  unknown_action: entry(400, INVALID, 'No such action.'),
  unknown_deployment_input_error: entry(400, INVALID, 'The blueprint declares no such input.'),
  unknown_deployment_secret_error: entry(400, INVALID, 'The blueprint needs a secret that does not exist.'),
  upload_missing_file: entry(400, INVALID, 'A POST to the file server holds no file.'),
  unsupported_content_type_error: entry(415, INVALID, 'The content type is not accepted here.'),
  unverified_cloudify_license: entry(400, INVALID, 'The license cannot be verified.'),
  payload_too_large_error: entry(413, EXHAUSTED, 'The body is larger than allowed.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;
