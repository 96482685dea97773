import type { Json, JsonObject } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';

const METHODS = ['none', 'remote', 'init_script', 'plugin', 'provided', 'ssh'] as const;
export type InstallMethod = (typeof METHODS)[number];

/** What blueprint, runtime properties and inputs say about the agent of a host. */
export interface AgentConfig {
  method: InstallMethod;
  /** Of the record. */
  name: string;
  network: string;
  isWindows: boolean;
  /** Operations of this host go to the agent of another node instance; the host has none of its own. */
  isProxied: boolean;
  /** All values by their names in the blueprint, with `extra` flattened. */
  values: JsonObject;
}

interface Sources {
  properties: Readonly<JsonObject>;
  runtime: Readonly<JsonObject>;
  inputs: Readonly<JsonObject>;
  /** Of the node instance. */
  id: string;
}

/** Runtime property `cloudify_agent` holds facts, too: only these are settings. */
const KEPT_IN_RUNTIME = new Set([
  ...[
    'user',
    'key',
    'password',
    'port',
    'network',
    'name',
    'service_name',
    'ip',
    'install_method',
    'basedir',
  ],
  ...[
    'env',
    'extra',
    'process_management',
    'min_workers',
    'max_workers',
    'executable_temp_path',
    'agent_dir',
  ],
  ...[
    'disable_requiretty',
    'install_with_sudo',
    'known_hosts',
    'proxy',
    'package_url',
    'install_agent_timeout',
  ],
]);

/**
 * Reads the configuration of an agent. Later sources go before earlier ones: properties of the node (old `cloudify_agent`,
 * then `agent_config`), runtime property `cloudify_agent`, inputs of the operation (reference/workflows.md 7.1).
 * @throws FatalError that names the wrong value
 */
export function agentConfigOf({ properties, runtime, inputs, id }: Sources): AgentConfig {
  if (isSet(inputs.agent_config) && isSet(inputs.cloudify_agent))
    throw new FatalError('inputs: only one of agent_config and cloudify_agent may be given, both are');
  const kept = Object.entries(flat(runtime.cloudify_agent, 'cloudify_agent')).filter(([key]) =>
    KEPT_IN_RUNTIME.has(key),
  );
  const values: JsonObject = {
    ...flat(properties.cloudify_agent, 'cloudify_agent'),
    ...flat(properties.agent_config, 'agent_config'),
    ...Object.fromEntries(kept),
    ...flat(inputs.cloudify_agent, 'cloudify_agent'),
    ...flat(inputs.agent_config, 'agent_config'),
  };
  return {
    method: methodOf(values, properties),
    name: text(values, 'service_name') ?? text(values, 'name') ?? id,
    network: text(values, 'network') ?? 'default',
    isWindows: String(properties.os_family ?? '').toLowerCase() === 'windows',
    isProxied: isSet(values.proxy),
    values,
  };
}

/** `install_agent` of old blueprints goes before `install_method` (reference/workflows.md 1.6). */
function methodOf(values: JsonObject, { install_agent: old }: Readonly<JsonObject>): InstallMethod {
  if (old === false || old === 'false') return 'none';
  if (old === true || old === 'true') return 'remote';
  const method = text(values, 'install_method') ?? 'remote';
  const known = METHODS.find((one) => one === method);
  if (known !== undefined) return known;
  throw new FatalError(
    `agent_config.install_method: one of ${METHODS.join(', ')} is expected, not ${method}`,
  );
}

const isSet = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && value !== '' && !isEmpty(value);

const isEmpty = (value: Json): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** The values that are set; those in `extra` go before the others. */
function flat(given: Json | undefined, where: string): JsonObject {
  if (!isSet(given)) return {};
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new FatalError(`${where}: a dictionary is expected`);
  const { extra, ...own } = given;
  return Object.fromEntries(
    [...Object.entries(own), ...Object.entries(flat(extra, `${where}.extra`))].filter(([, value]) =>
      isSet(value),
    ),
  );
}

/** @throws FatalError for a dictionary or a list */
export function text(values: Readonly<JsonObject>, key: string): string | undefined {
  const value = values[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'object') throw new FatalError(`agent_config.${key}: a text is expected`);
  return String(value);
}

/** @throws FatalError for anything else than a number that is not negative, also as text */
export function numberOf(values: Readonly<JsonObject>, key: string): number | undefined {
  const given = text(values, key);
  if (given === undefined) return undefined;
  const number = Number(given);
  if (Number.isFinite(number) && number >= 0) return number;
  throw new FatalError(`agent_config.${key}: a number is expected, not ${given}`);
}

/** Values that the script of an installation reads; never a key or a password. */
const SCRIPT_VALUES = [
  ...['user', 'basedir', 'agent_dir', 'install_dir', 'process_management', 'executable_temp_path', 'env'],
  ...['disable_requiretty', 'user_mode', 'package_url', 'http_proxy'],
];

/** Returns the options of POST /agents/{name}/enrolment. */
export function enrolmentOptions({ values, method }: AgentConfig): JsonObject {
  const options: JsonObject = Object.fromEntries(
    SCRIPT_VALUES.flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]])),
  );
  if (values.install_with_sudo === false || values.install_with_sudo === 'false') options.user_mode = true;
  return { ...options, install_method: method };
}
