import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Json, JsonObject } from '@baton/kernel';
import type { AgentContext, NodeContext, OperationContext, OperationLogger } from '../context';
import { FatalError } from '../errors';
import { withStore } from '../files/file-store';
import { storedStep } from '../run/steps';
import { hasTemplate, renderTemplate } from '../template';
import type { MemoryInstance } from './memory-instance';

export interface LogLine {
  level: keyof OperationLogger;
  message: string;
}

export interface MemorySide {
  node: NodeContext;
  instance: MemoryInstance;
}

export interface MemoryParts {
  /** The node; of a relationship its source. */
  own: MemorySide;
  /** The target of a relationship; null: an operation of a node. */
  target: MemorySide | null;
  plugin: { name: string; version: string; secrets: readonly string[] };
  secrets: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string | Uint8Array>>;
  lines: LogLine[];
  operation: string;
  taskId: string;
  isResumed: boolean;
  signal: AbortSignal;
  retryNumber: number;
  /** The end of the relationship for which the operation runs. */
  side: 'source' | 'target' | null;
  /** Called when the operation asks for another run by `ctx.operation.retry`. */
  onRetry(message?: string, retryAfter?: number): void;
  /** Called when the result of a step has been stored; a promise that never ends is the death of the process. */
  afterStep(key: string): Promise<void>;
  /** Called when the work of a step begins. */
  onWork(key: string): void;
}

/** The context of an operation without a manager. */
export function memoryContext(parts: MemoryParts): OperationContext {
  const { own, target, plugin, lines, operation } = parts;
  const logger = loggerTo(lines);
  const onlyIn = (kind: string): never => {
    throw new FatalError(`this is there in an operation of a ${kind} only`);
  };
  const part = async <T>(value: T, isThere: boolean, kind: string): Promise<T> =>
    isThere ? value : onlyIn(kind);
  const ctx: OperationContext = {
    ...identity,
    type: target === null ? 'node-instance' : 'relationship-instance',
    taskId: parts.taskId,
    taskName: operation,
    plugin: { name: plugin.name, packageName: plugin.name, packageVersion: plugin.version, properties: {} },
    operation: {
      name: operation,
      retryNumber: parts.retryNumber,
      maxRetries: 60,
      relationship: parts.side,
      retry: parts.onRetry,
    },
    isResumed: parts.isResumed,
    agent: testAgent,
    logger,
    signal: parts.signal,
    node: () => part(own.node, target === null, 'node'),
    instance: () => part(own.instance, target === null, 'node'),
    source: () => part(own, target !== null, 'relationship'),
    target: () => part(target!, target !== null, 'relationship'),
    sendEvent: (message) => void lines.push({ level: 'info', message }),
    secret: async (name) => secretOf(parts, name),
    step: async <T extends Json>(key: string, work: () => Promise<T>): Promise<T> => {
      let isNew = false;
      const result = await storedStep(own.instance, parts.taskId, key, async () => {
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
    remoteCtx: async () => {
      throw new FatalError('testNode serves no scripts on other machines: test this on a manager');
    },
  };
  return withStore(ctx, own.instance.files);
}

/** `ctx` in templates of a test holds the node and the instance, or both ends. */
function rendered({ own, target }: MemoryParts, text: string, variables: JsonObject, name: string): string {
  if (!hasTemplate(text)) return text;
  if (Object.hasOwn(variables, 'ctx'))
    throw new FatalError('template variables must not contain one called ctx');
  const sideOf = ({ node: { id, properties, type }, instance }: MemorySide) => ({
    node: { id, name: id, type, properties },
    instance: { id: instance.id, runtime_properties: instance.runtimeProperties },
  });
  const ctx = {
    ...(target === null ? sideOf(own) : { source: sideOf(own), target: sideOf(target) }),
    deployment: { id: identity.deployment.id },
    blueprint: { id: identity.blueprint.id },
    tenant: { name: identity.tenant },
  };
  return renderTemplate(text, { ...variables, ctx: structuredClone(ctx) as JsonObject }, name);
}

const identity = {
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

/** What a test can look for in the user data that an operation makes. */
const testAgent: AgentContext = {
  initScript: async () => '#!/bin/sh\n# install script of the agent\n',
  installScriptDownloadLink: async () => 'https://manager.invalid/agent/v1/install/test',
};

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
