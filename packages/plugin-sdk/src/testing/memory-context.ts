import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Json, JsonObject } from '@baton/kernel';
import type { NodeContext, OperationContext, OperationLogger } from '../context';
import { FatalError } from '../errors';
import { withStore } from '../files/file-store';
import { storedStep } from '../run/steps';
import { hasTemplate, renderTemplate } from '../template';
import type { MemoryFiles } from './memory-files';
import type { MemoryInstance } from './memory-instance';

export interface LogLine {
  level: keyof OperationLogger;
  message: string;
}

export interface MemoryParts {
  node: NodeContext;
  instance: MemoryInstance;
  plugin: { name: string; version: string; secrets: readonly string[] };
  secrets: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string | Uint8Array>>;
  instanceFiles: MemoryFiles;
  lines: LogLine[];
  operation: string;
  taskId: string;
  isResumed: boolean;
  signal: AbortSignal;
  /** Called when the result of a step has been stored; a promise that never ends is the death of the process. */
  afterStep(key: string): Promise<void>;
  /** Called when the work of a step begins. */
  onWork(key: string): void;
}

/** The context of an operation without a manager. */
export function memoryContext(parts: MemoryParts): OperationContext {
  const { node, instance, plugin, lines, operation } = parts;
  const logger = loggerTo(lines);
  const noRelationship = async (): Promise<never> => {
    throw new FatalError('testNode runs operations of nodes: there is no source and no target');
  };
  const ctx: OperationContext = {
    ...identity,
    taskId: parts.taskId,
    taskName: operation,
    plugin: { name: plugin.name, packageName: plugin.name, packageVersion: plugin.version, properties: {} },
    operation: { name: operation, retryNumber: 0, maxRetries: 0, relationship: null, retry: () => undefined },
    isResumed: parts.isResumed,
    logger,
    signal: parts.signal,
    node: async () => node,
    instance: async () => instance,
    source: noRelationship,
    target: noRelationship,
    sendEvent: (message) => void lines.push({ level: 'info', message }),
    secret: async (name) => secretOf(parts, name),
    step: async <T extends Json>(key: string, work: () => Promise<T>): Promise<T> => {
      let isNew = false;
      const result = await storedStep(instance, parts.taskId, key, async () => {
        isNew = true;
        parts.onWork(key);
        return await work();
      });
      if (isNew) await parts.afterStep(key);
      return result;
    },
    progress: (done, total, text = '') => logger.info(`${done} of ${total}${text === '' ? '' : `: ${text}`}`),
    render: async (text, variables = {}) => rendered(parts, text, variables, 'text'),
    ...resourcesOf(parts),
  };
  return withStore(ctx, parts.instanceFiles);
}

/** `ctx` in templates of a test holds the node and the instance. */
function rendered(
  { node, instance }: MemoryParts,
  text: string,
  variables: JsonObject,
  name: string,
): string {
  if (!hasTemplate(text)) return text;
  if (Object.hasOwn(variables, 'ctx'))
    throw new FatalError('template variables must not contain one called ctx');
  const { id, properties, type } = node;
  const ctx = {
    node: { id, name: id, type, properties },
    instance: { id: instance.id, runtime_properties: instance.runtimeProperties },
    deployment: { id: identity.deployment.id },
    blueprint: { id: identity.blueprint.id },
    tenant: { name: identity.tenant },
  };
  return renderTemplate(text, { ...variables, ctx: structuredClone(ctx) as JsonObject }, name);
}

const identity = {
  type: 'node-instance',
  tenant: 'default_tenant',
  executionId: '00000000-0000-7000-8000-000000000001',
  workflowId: 'install',
  workflowParameters: {},
  deployment: { id: 'test', displayName: 'test' },
  blueprint: { id: 'test' },
  createdBy: 'test',
  executionToken: '',
} as const;

function secretOf({ plugin, secrets }: MemoryParts, name: string): string {
  if (!plugin.secrets.includes(name))
    throw new FatalError(`the plugin ${plugin.name} does not declare the secret ${name}`);
  if (!Object.hasOwn(secrets, name)) throw new FatalError(`the test gives no secret ${name}`);
  return secrets[name]!;
}

const loggerTo = (lines: LogLine[]): OperationLogger => {
  const at = (level: LogLine['level']) => (message: string) =>
    void lines.push({ level, message: String(message) });
  return {
    debug: at('debug'),
    info: at('info'),
    warning: at('warning'),
    error: at('error'),
    critical: at('critical'),
  };
};

type Resources = Pick<
  OperationContext,
  'getResource' | 'downloadResource' | 'downloadDirectory' | 'downloadResourceAndRender'
>;

/** Files of the blueprint are given by the test. They are written to the disk only where the operation names the place. */
function resourcesOf({ files }: MemoryParts): Resources {
  const noFile = async (path: string): Promise<never> => {
    throw new FatalError(
      `testNode writes no files: read ${path} with getResource, or test this on a manager`,
    );
  };
  const contentOf = (path: string): Uint8Array => {
    const content = Object.hasOwn(files, path) ? files[path] : undefined;
    if (content === undefined) throw new FatalError(`the test gives no file ${path}`);
    return typeof content === 'string' ? new TextEncoder().encode(content) : content;
  };
  const write = async (place: string, path: string): Promise<string> => {
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, contentOf(path));
    return place;
  };
  return {
    getResource: async (path: string) => contentOf(path),
    downloadResource: (path: string, target?: string) =>
      target === undefined ? noFile(path) : write(target, path),
    downloadDirectory: async (path: string, target?: string) => {
      const inside = Object.keys(files).filter((file) => file.startsWith(`${path}/`));
      if (inside.length === 0) throw new FatalError(`the test gives no files below ${path}`);
      if (target === undefined) return await noFile(path);
      for (const file of inside) await write(join(target, file.slice(path.length + 1)), file);
      return target;
    },
    downloadResourceAndRender: (path: string, _target?: string, _variables?: JsonObject) => noFile(path),
  };
}
