// Runs operations of the plugin without a manager: node, instance and the files of the blueprint are those of the test.
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstanceContext, OperationContext } from '@baton/plugin-sdk';
import plugin from '../plugin';

type Runtime = InstanceContext['runtimeProperties'];

export interface Rig {
  runtime: Runtime;
  /** Lines of the log, as `level: text`. */
  lines: string[];
  run(mapping: string, inputs?: object, more?: Partial<RunOptions>): Promise<unknown>;
}

interface RunOptions {
  signal: AbortSignal;
  retryNumber: number;
  /** Called for each line of the log. */
  onLine(line: string): void;
}

interface RigNode {
  properties?: object;
  /** The operations run in a relationship to this node then. */
  target?: { id: string; instanceId: string; typeHierarchy: string[]; properties: object; runtime: object };
}

/** `blueprint`: a folder with the files of the blueprint. */
export function makeRig(blueprint: string, node: RigNode = {}): Rig {
  const rig: Rig = {
    runtime: {},
    lines: [],
    run: async (mapping, inputs = {}, more = {}) => {
      const context = contextOf(rig, blueprint, node, more);
      return await plugin.operations[`cloudify_ansible.tasks.${mapping}`]!(context, inputs as never);
    },
  };
  return rig;
}

function contextOf(
  rig: Rig,
  blueprint: string,
  { target, ...node }: RigNode,
  options: Partial<RunOptions>,
): OperationContext {
  const log =
    (level: string) =>
    (text: string): void => {
      rig.lines.push(`${level}: ${text}`);
      options.onLine?.(`${level}: ${text}`);
    };
  const instance = {
    id: 'play_abc123',
    relationships: [],
    get runtimeProperties() {
      return rig.runtime;
    },
    set runtimeProperties(value: Runtime) {
      rig.runtime = value;
    },
    update: async () => undefined,
  };
  const about = {
    id: 'play',
    type: 'cloudify.nodes.Root',
    typeHierarchy: ['cloudify.nodes.Root'],
    properties: {},
  };
  return {
    type: target === undefined ? 'node-instance' : 'relationship-instance',
    deployment: { id: 'dep', displayName: 'dep' },
    operation: { name: 'start', retryNumber: options.retryNumber ?? 0, maxRetries: 60 },
    plugin: { name: 'ansible' },
    signal: options.signal ?? new AbortController().signal,
    logger: {
      debug: log('debug'),
      info: log('info'),
      warning: log('warning'),
      error: log('error'),
      critical: log('critical'),
    },
    node: async () => ({ ...about, ...node }),
    instance: async () => instance,
    source: async () => ({ node: { ...about, ...node }, instance }),
    target: async () => ({
      node: { type: target?.typeHierarchy.at(-1), ...target },
      instance: { id: target?.instanceId, runtimeProperties: target?.runtime },
    }),
    getResource: async (path: string) => await readFile(join(blueprint, path)),
    downloadResource: async (path: string, target: string) => {
      await cp(join(blueprint, path), target);
      return target;
    },
    downloadDirectory: async (path: string, target: string) => {
      await cp(join(blueprint, path), target, { recursive: true });
      return target;
    },
  } as unknown as OperationContext;
}
