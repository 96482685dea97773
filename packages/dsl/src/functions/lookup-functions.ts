import type { Json, JsonObject } from '@baton/kernel';
import { fail } from '../diagnostics/dsl-error';
import { setOwn } from '../yaml/node';
import { checkSysNames } from './arguments';
import { failedFunction, type Handler, type Outcome } from './evaluator';
import { pathText, walkPath } from './path-walk';
import type { FunctionName } from './registry';
import type { FunctionStorage } from './storage';

/** Functions that read secrets, capabilities, labels and the system (reference 4). */

const PARENT = 'csys-obj-parent';

function nested(name: FunctionName, what: string, value: Json, rest: Json[], path: string): Outcome {
  const walked = walkPath(value, rest);
  if (walked.kind === 'value') return { value: walked.value };
  const at =
    walked.kind === 'fault' ? `"${pathText([walked.at])}": ${walked.reason}` : 'an unresolved function';
  return failedFunction(name, `${what}: ${pathText(rest)} cannot be followed, ${at}`, path);
}

async function secret(storage: FunctionStorage, args: Json, path: string): Promise<Outcome> {
  const [name, ...rest] = (Array.isArray(args) ? args : [args]) as [string, ...Json[]];
  const text = await storage.getSecret(String(name));
  if (text === null) fail('unknown_secrets', `the secret "${name}" does not exist`, { path, value: name });
  if (rest.length === 0) return { value: text };
  let parsed: Json;
  try {
    parsed = JSON.parse(text!) as Json;
  } catch {
    return failedFunction('get_secret', `the secret "${name}" is not JSON`, path);
  }
  return nested('get_secret', `the secret "${name}"`, parsed, rest, path);
}

async function capability(
  storage: FunctionStorage,
  name: FunctionName,
  deployment: Json,
  asked: Json[],
  path: string,
): Promise<Outcome> {
  const [capabilityName, ...rest] = asked as [string, ...Json[]];
  const found = await storage.getCapability(String(deployment), String(capabilityName));
  if (found === null)
    fail(
      'function_result',
      `the deployment "${String(deployment)}" has no capability "${String(capabilityName)}"`,
      { path, value: capabilityName },
    );
  return nested(
    name,
    `the capability "${String(capabilityName)}" of "${String(deployment)}"`,
    found!.value,
    rest,
    path,
  );
}

async function label(storage: FunctionStorage, args: Json, path: string): Promise<Outcome> {
  const [key, index] = (Array.isArray(args) ? args : [args]) as [string, (string | number)?];
  const values = await storage.getLabel(key);
  if (values === null || values.length === 0)
    fail('function_result', `the deployment has no label "${key}"`, { path, value: key });
  if (index === undefined) return { value: [...values!] };
  const value = values!.at(Number(index));
  if (value === undefined)
    fail('function_result', `the label "${key}" has ${values!.length} values, there is no ${index}`, {
      path,
      value: index,
    });
  return { value: value! };
}

export function lookupHandlers(storage: FunctionStorage): Partial<Record<FunctionName, Handler>> {
  return {
    get_secret: (args, _frame, path) => secret(storage, args, path),
    get_capability: (args, _frame, path) => {
      const [deployment, ...asked] = args as Json[];
      return capability(storage, 'get_capability', deployment!, asked, path);
    },
    get_environment_capability: async (args, _frame, path) => {
      const parents = await storage.getLabel(PARENT);
      if (!parents || parents.length === 0)
        failedFunction('get_environment_capability', `the deployment has no label ${PARENT}`, path);
      return capability(
        storage,
        'get_environment_capability',
        parents![0]!,
        Array.isArray(args) ? args : [args],
        path,
      );
    },
    get_group_capability: async (args) => {
      const [group, asked, ...rest] = args as [string, string | string[], ...Json[]];
      return { value: await storage.getGroupCapability(group, asked, rest) };
    },
    get_label: (args, _frame, path) => label(storage, args, path),
    get_sys: async (args, _frame, path) => {
      const fault = checkSysNames(args);
      if (fault) fail(fault.kind, fault.message, { path, value: args, expected: fault.expected });
      const [entity, property] = args as [string, string];
      return { value: await storage.getSys(entity, property) };
    },
    get_consumers: async (args) => ({ value: await storage.getConsumers(args as 'ids' | 'names' | 'count') }),
  };
}

export interface GroupDeployment {
  id: string;
  capabilities: JsonObject;
}

const BY_DEPLOYMENT = 'deployment_id:';

/**
 * Returns the result of get_group_capability for the deployments of a group, with their evaluated capabilities: a list
 * sorted by id, or a mapping by id when the capability has the prefix `deployment_id:`. Deployments without any of the
 * capabilities are left out.
 */
export function groupCapability(
  deployments: readonly GroupDeployment[],
  asked: string | string[],
  path: Json[],
): Json {
  const byId = typeof asked === 'string' && asked.startsWith(BY_DEPLOYMENT);
  const names = typeof asked === 'string' ? [byId ? asked.slice(BY_DEPLOYMENT.length) : asked] : asked;
  const found: { id: string; value: Json }[] = [];
  for (const { id, capabilities } of [...deployments].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (!names.some((name) => Object.hasOwn(capabilities, name))) continue;
    const values = names.map((name) => {
      const walked = walkPath(
        Object.hasOwn(capabilities, name) ? capabilities[name]! : null,
        Object.hasOwn(capabilities, name) ? path : [],
      );
      return walked.kind === 'value'
        ? walked.value
        : failedFunction(
            'get_group_capability',
            `${pathText(path)} of "${name}" of "${id}" cannot be followed`,
            '',
          );
    });
    found.push({ id, value: typeof asked === 'string' ? values[0]! : values });
  }
  if (!byId) return found.map((f) => f.value);
  const result: JsonObject = {};
  for (const { id, value } of found) setOwn(result, id, value);
  return result;
}
