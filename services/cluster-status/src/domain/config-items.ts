import type { JsonObject } from '@baton/kernel';

/** One value of the manager's configuration with its shipped value (reference/rest-api.md 5.21). */
export interface ConfigDefinition {
  scope: string;
  name: string;
  shipped: unknown;
  schema: JsonObject | null;
  isEditable: boolean;
  isAdminOnly: boolean;
}

/** Values from the manager's own settings. GET /config shows them; only a restart changes them. */
export interface ShippedValues {
  publicIp: string;
  fileServerRoot: string;
  fileServerUrl: string;
  fileServerType: 'local' | 's3';
  s3Url: string;
  s3Bucket: string;
  taskRetries: number;
  taskRetryIntervalS: number;
  subgraphRetries: number;
}

const text: JsonObject = { type: 'string' };
const bool: JsonObject = { type: 'boolean' };
const integer = (minimum: number, maximum?: number): JsonObject =>
  maximum === undefined ? { type: 'integer', minimum } : { type: 'integer', minimum, maximum };
const number = (minimum?: number, maximum?: number): JsonObject => ({
  type: 'number',
  ...(minimum === undefined ? {} : { minimum }),
  ...(maximum === undefined ? {} : { maximum }),
});
// Clients know these names; the agent's own shipped value is nevertheless in lower case.
const logLevel: JsonObject = { type: 'string', enum: ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] };

/** Services log to their standard output. */
const LOG_PATH = '/dev/stdout';

type Flags = Partial<Pick<ConfigDefinition, 'isEditable' | 'isAdminOnly'>>;
const fixed: Flags = { isEditable: false };
const secret: Flags = { isAdminOnly: true };

const inScope =
  (scope: string) =>
  (name: string, shipped: unknown, schema: JsonObject | null, flags: Flags = {}): ConfigDefinition => ({
    scope,
    name,
    shipped,
    schema,
    isEditable: true,
    isAdminOnly: false,
    ...flags,
  });

const LDAP_TEXTS = `attribute_email attribute_first_name attribute_group_membership attribute_last_name attribute_uid
  base_dn bind_format ca_path domain group_dn group_member_filter group_members_filter server user_filter`;

function restItems(own: ShippedValues): ConfigDefinition[] {
  const item = inScope('rest');
  return [
    item('account_lock_period', -1, number(-1)),
    item('api_service_log_level', 'INFO', logLevel),
    item('api_service_log_path', LOG_PATH, null, fixed),
    item('blueprint_folder_max_files', 10_000, integer(0)),
    item('blueprint_folder_max_size_mb', 50, number(0)),
    item('default_agent_port', 8180, number(1, 65_535)),
    item('default_page_size', 1000, integer(1)),
    item('failed_logins_before_account_lock', 4, integer(1)),
    item('file_server_root', own.fileServerRoot, null, fixed),
    item('file_server_type', own.fileServerType, text),
    item('file_server_url', own.fileServerUrl, null, fixed),
    item('insecure_endpoints_disabled', true, bool, fixed),
    ...LDAP_TEXTS.split(/\s+/).map((name) => item(`ldap_${name}`, null, text)),
    item('ldap_dn_extra', null, null),
    item('ldap_is_active_directory', null, bool),
    item('ldap_nested_levels', 1, integer(1)),
    item('ldap_password', null, text, secret),
    item('ldap_timeout', 5.0, number()),
    item('ldap_username', null, text, secret),
    item('log_fetch_password', '', null, secret),
    item('log_fetch_username', '', null, secret),
    item('maintenance_folder', '', null, fixed),
    item('marketplace_api_url', '', text),
    item('max_concurrent_workflows', 20, number(1, 1000)),
    item('min_available_memory_mb', 100, number(0)),
    item('monitoring_timeout', 4, number(0)),
    item('public_ip', own.publicIp, null, fixed),
    item('rest_service_log_level', 'INFO', logLevel),
    item('rest_service_log_path', LOG_PATH, null, fixed),
    item('s3_client_timeout', 5.0, number()),
    item('s3_resources_bucket', own.s3Bucket, text),
    item('s3_server_url', own.s3Url, text),
    item('service_management', 'systemd', text, fixed),
  ];
}

function workItems(own: ShippedValues): ConfigDefinition[] {
  const [worker, agent, workflow] = [inScope('mgmtworker'), inScope('agent'), inScope('workflow')];
  return [
    worker('log_level', 'INFO', logLevel),
    worker('max_workers', 5, integer(1)),
    worker('min_workers', 2, integer(1)),
    worker('prometheus_url', 'http://127.0.0.1:9090/monitoring', text),
    agent('broker_port', 5671, integer(1, 65_535)),
    agent('heartbeat', 30, number(0)),
    agent('log_level', 'info', logLevel),
    agent('max_workers', 5, integer(1)),
    agent('min_workers', 2, integer(1)),
    workflow('subgraph_retries', own.subgraphRetries, integer(-1)),
    workflow('task_retries', own.taskRetries, integer(-1)),
    // Endless retries are set by task_retries (-1); a negative interval has no meaning.
    workflow('task_retry_interval', own.taskRetryIntervalS, number(0)),
  ];
}

/**
 * Returns the definitions of all values, sorted by name. Scopes composer and stage have none: the console keeps its own settings.
 */
export function configDefinitions(own: ShippedValues): ConfigDefinition[] {
  return [...restItems(own), ...workItems(own)].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
  );
}
