import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { FatalError, OperationRetry } from '@baton/plugin-sdk';
import { agentContext } from '../context/agent-script';
import type { Instance, Side } from '../context/instance';
import { type Resources, sessionResources } from '../context/resources';
import type { OperationSession } from '../context/session';
import { staticSnapshot } from '../context/snapshot';
import type { ScriptResult } from '../script/script-result';
import type { CtxWork } from './ctx-work';
import { CtxCallable, CtxDict, CtxObject, type CtxValue } from './walk';

/** Thrown to a client whose script must end here: after abort and retry. */
export class StopOperation extends Error {}

type Attributes = Record<string, () => CtxValue | undefined | Promise<CtxValue | undefined>>;

/** Assigns positional arguments and keywords to names. @throws Error that names an unknown argument. */
function bindArgs(
  names: readonly string[],
  args: readonly Json[],
  kwargs: JsonObject,
): Record<string, Json | undefined> {
  if (args.length > names.length)
    throw new Error(`takes at most ${names.length} arguments (${args.length} given)`);
  const unknown = Object.keys(kwargs).find((k) => !names.includes(k));
  if (unknown !== undefined)
    throw new Error(`got an unexpected argument '${unknown}'; expected: ${names.join(', ')}`);
  return { ...Object.fromEntries(args.map((value, i) => [names[i], value])), ...kwargs };
}

const constants = (facts: JsonObject): Attributes =>
  Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name,
      () => (isJsonObject(value) ? new CtxDict(value, 'Cannot override read only properties') : value),
    ]),
  );

/** Makes the `ctx` object tree for scripts: facts, both sides, logger, resources and the result of the script. */
export function ctxTree(session: OperationSession, result: ScriptResult, work: CtxWork): CtxObject {
  const facts = staticSnapshot(session);
  const hide = (text: string): string => work.hide?.(text) ?? text;
  const { operation, plugin, deployment, blueprint, ...plainFacts } = facts as Record<string, JsonObject>;
  const lateFacts: Attributes = Object.fromEntries(
    ['creator', 'resource_tags', 'runtime_only_evaluation'].map((name) => [
      name,
      async () => (await session.open()).model.deployment[name],
    ]),
  );
  const pluginDir = async (): Promise<string> => {
    const dir = join(await session.host.deploymentDir(), 'plugins', session.task.plugin.name);
    await work.makeFolder(dir);
    return dir;
  };
  return new CtxObject('ctx', {
    ...constants(plainFacts as JsonObject),
    task_target: () => null,
    task_queue: () => null,
    bypass_maintenance: () => false,
    operation: () =>
      new CtxObject('operation', { ...constants(operation as JsonObject), retry: () => retryCall(session) }),
    plugin: () =>
      new CtxObject(
        'plugin',
        { ...constants(plugin as JsonObject), workdir: pluginDir },
        session.task.plugin.name,
      ),
    deployment: () => new CtxObject('deployment', { ...constants(deployment as JsonObject), ...lateFacts }),
    blueprint: () => new CtxObject('blueprint', constants(blueprint as JsonObject)),
    node: async () => nodeObject(await session.own()),
    instance: async () => instanceObject((await session.own()).instance),
    source: async () => sideObject('source', await session.side('source')),
    target: async () => sideObject('target', await session.side('target')),
    agent: () => agentObject(session),
    logger: () => loggerObject(session, hide),
    send_event: () =>
      new CtxCallable(
        async ([message]) => void (await session.host.emit('event', 'info', hide(String(message ?? '')))),
      ),
    local_deployment_workdir: () => new CtxCallable(() => session.host.deploymentDir()),
    ...resourceCalls(sessionResources(session, work.places)),
    ...resultCalls(result),
  });
}

function nodeObject(side: Side): CtxObject {
  const { node } = side;
  return new CtxObject('node', {
    id: () => node.id,
    name: () => node.name,
    type: () => node.type,
    type_hierarchy: () => [...node.typeHierarchy],
    number_of_instances: () => node.numberOfInstances,
    properties: () => new CtxDict(node.properties, 'Cannot override read only properties'),
  });
}

function instanceObject(instance: Instance): CtxObject {
  return new CtxObject('instance', {
    id: () => instance.id,
    node_id: () => instance.nodeId,
    index: () => instance.index,
    state: () => instance.state,
    host_id: () => instance.record.host_id,
    host_ip: () => instance.hostIp(),
    runtime_properties: () => new CtxDict(instance.runtimeProperties),
    system_properties: () => new CtxDict(instance.systemProperties, 'Cannot override read only properties'),
    relationships: () => instance.record.relationships as never,
    scaling_groups: () => Object.fromEntries(instance.scalingGroups.map((g) => [g.id, g.name])),
    drift: () => {
      const drift = instance.systemProperties.configuration_drift;
      return isJsonObject(drift) && drift.ok === true ? (drift.result ?? null) : null;
    },
    update: () => new CtxCallable(() => instance.update() as Promise<undefined>),
    refresh: () =>
      new CtxCallable(
        (args, kwargs) =>
          instance.refresh(bindArgs(['force'], args, kwargs).force === true) as Promise<undefined>,
      ),
  });
}

function sideObject(name: string, side: Side): CtxObject {
  return new CtxObject(name, { node: () => nodeObject(side), instance: () => instanceObject(side.instance) });
}

function loggerObject(session: OperationSession, hide: (text: string) => string): CtxObject {
  const levels = {
    debug: 'debug',
    info: 'info',
    warning: 'warning',
    warn: 'warning',
    error: 'error',
    exception: 'error',
    critical: 'critical',
  };
  const write = (level: string) => () =>
    new CtxCallable(
      async (args) => void (await session.host.emit('log', level, hide(args.map(String).join(' ')))),
    );
  return new CtxObject(
    'logger',
    Object.fromEntries(Object.entries(levels).map(([name, level]) => [name, write(level)])),
  );
}

function resourceCalls(files: Resources): Attributes {
  type Bound = { path: string; target: string | null; variables: JsonObject };
  const call = (run: (b: Bound) => Promise<string>) => () =>
    new CtxCallable((args, { resource_path, directory_path, ...others }) => {
      const path = resource_path ?? directory_path;
      const kwargs = path === undefined ? others : { path, ...others };
      const b = bindArgs(['path', 'target_path', 'template_variables'], args, kwargs);
      if (typeof b.path !== 'string') throw new Error('the path of the resource is missing');
      return run({
        path: b.path,
        target: typeof b.target_path === 'string' ? b.target_path : null,
        variables: isJsonObject(b.template_variables) ? b.template_variables : {},
      });
    });
  return {
    get_resource: call(async (b) => (await files.read(b.path)).toString('utf8')),
    get_resource_and_render: call((b) => files.render(b.path, b.variables)),
    download_resource: call((b) => files.download(b.path, b.target)),
    download_directory: call((b) => files.downloadDirectory(b.path, b.target)),
    download_resource_and_render: call((b) => files.downloadAndRender(b.path, b.target, b.variables)),
  };
}

function agentObject(session: OperationSession): CtxObject {
  const agent = agentContext(session);
  const call = (run: (config: JsonObject | undefined) => Promise<string>) => () =>
    new CtxCallable((args, kwargs) => {
      // A single dictionary arrives as keywords.
      const { agent_config: config, ...own } = kwargs;
      const given = config ?? args[0] ?? (Object.keys(own).length > 0 ? own : undefined);
      if (given !== undefined && given !== null && !isJsonObject(given))
        throw new Error('agent_config must be a dictionary');
      return run(isJsonObject(given) ? given : undefined);
    });
  return new CtxObject('agent', {
    init_script: call((config) => agent.initScript(config)),
    install_script_download_link: call((config) => agent.installScriptDownloadLink(config)),
  });
}

function retryCall(session: OperationSession): CtxCallable {
  return new CtxCallable((args, kwargs) => {
    const { message, retry_after: after } = bindArgs(['message', 'retry_after'], args, kwargs);
    session.retryRequest = new OperationRetry(message ? String(message) : undefined, {
      retryAfter: secondsOf(after),
    });
    return undefined;
  });
}

function secondsOf(value: Json | undefined): number | null {
  if (value === undefined || value === null || value === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new FatalError(`retry_after must be a number of seconds, not ${JSON.stringify(value)}`);
}

function resultCalls(result: ScriptResult): Attributes {
  return {
    returns: () =>
      new CtxCallable((args, kwargs) => {
        // A single dictionary arrives as keywords; it is meant as the value.
        result.record({
          kind: 'returns',
          value: args.length === 0 && Object.keys(kwargs).length > 0 ? kwargs : (args[0] ?? null),
        });
        return undefined;
      }),
    abort_operation: () =>
      new CtxCallable((args, kwargs) => {
        const { message } = bindArgs(['message'], args, kwargs);
        const text = message ? String(message) : 'the script aborted the operation';
        result.record({ kind: 'abort', message: text });
        throw new StopOperation(text);
      }),
    retry_operation: () =>
      new CtxCallable((args, kwargs) => {
        const { message, retry_after: after } = bindArgs(['message', 'retry_after'], args, kwargs);
        const text = message ? String(message) : undefined;
        result.record({ kind: 'retry', message: text, retryAfter: secondsOf(after) });
        throw new StopOperation(text ?? 'the script asked to run the operation again');
      }),
  };
}
