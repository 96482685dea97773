/** The process of a TypeScript plugin: loads its code and runs the operations that the worker sends. Bundled into one file. */
import { Socket } from 'node:net';
import { join } from 'node:path';
import {
  isResumable,
  type PluginOperation,
  type PluginWorkflow,
  type WorkflowFunction,
} from '@baton/plugin-sdk';
import { endOfThrown, type OperationEnd } from '../../operation-end';
import { textOf } from '../../thrown';
import { encodeFrame, FrameReader, WireError } from '../frames';
import { type FromModule, type ToModule, WIRE_VARIABLE } from '../protocol';
import { logConsole, type RunningOperation, startOperation } from './run-operation';
import { startWorkflow } from './run-workflow';

/** The parts of a plugin that this process uses, as `definePlugin` returns them. */
interface LoadedPlugin {
  name: string;
  version: string;
  operations: Map<string, PluginOperation>;
  workflows: Map<string, PluginWorkflow | WorkflowFunction>;
  secrets: string[];
}

const wire = new Socket({ fd: Number(process.env[WIRE_VARIABLE]), readable: true, writable: true });
delete process.env[WIRE_VARIABLE];
const say = (message: FromModule): void => void wire.write(encodeFrame(message));
const operations = new Map<number, RunningOperation>();
/** Reading the memory of the process costs as much as a small operation. */
const MEASURE_EVERY = 20;
let ended = 0;

/** @throws Error when the code cannot be loaded, or exports no plugin */
function load(folder: string): LoadedPlugin {
  const loaded = require(join(folder, 'index.js')) as { default?: unknown };
  const plugin = (loaded.default ?? loaded) as Record<string, unknown>;
  const { operations: given, workflows, name, version, secrets } = plugin;
  if (typeof name !== 'string' || typeof given !== 'object' || given === null)
    throw new Error('index.js exports no plugin: expected export default definePlugin({...})');
  return {
    name,
    version: typeof version === 'string' ? version : '',
    operations: new Map(Object.entries(given as Record<string, PluginOperation>)),
    workflows: new Map(
      Object.entries((workflows ?? {}) as Record<string, PluginWorkflow | WorkflowFunction>),
    ),
    secrets: Array.isArray(secrets) ? secrets.filter((secret) => typeof secret === 'string') : [],
  };
}

/** Sends the end; one that does not fit is replaced by its error. */
function sayEnd(op: number, end: OperationEnd): void {
  operations.delete(op);
  const rss = ++ended % MEASURE_EVERY === 0 ? process.memoryUsage.rss() : null;
  try {
    say({ t: 'end', op, end, rss });
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    say({ t: 'end', op, end: endOfThrown(new Error(`result: ${error.message}`)), rss });
  }
}

/** Null: the plugin has no such operation or workflow. */
function start(
  { operations: known, workflows }: LoadedPlugin,
  message: Extract<ToModule, { t: 'run' }>,
): RunningOperation | null {
  const { mapping, isWorkflowCode } = message.task;
  const workflow = isWorkflowCode ? workflows.get(mapping) : undefined;
  if (workflow) return startWorkflow(message, workflow, say);
  const operation = isWorkflowCode ? undefined : known.get(mapping);
  return operation ? startOperation(message, operation, say) : null;
}

function take(plugin: LoadedPlugin, message: ToModule): void {
  if (message.t === 'run') {
    const started = start(plugin, message);
    if (!started) return sayEnd(message.op, endOfThrown(new Error(`no ${message.task.mapping}`)));
    operations.set(message.op, started);
    void started.end.then((end) => sayEnd(message.op, end));
  } else if (message.t === 'abort') operations.get(message.op)?.stop.abort(message.reason);
  else operations.get(message.op)?.waiting.answer(message.id, message.value, message.error);
}

async function serve(folder: string): Promise<void> {
  logConsole();
  let plugin: LoadedPlugin;
  try {
    plugin = load(folder);
  } catch (error) {
    say({ t: 'unusable', message: textOf(error) });
    return;
  }
  const marks = [...plugin.operations].map(([mapping, operation]): [string, boolean] => [
    mapping,
    isResumable(operation),
  ]);
  const workflows = [...plugin.workflows].map(([mapping, workflow]): [string, boolean] => [
    mapping,
    typeof workflow !== 'function' && workflow.isResumable === true,
  ]);
  const { name, version, secrets } = plugin;
  say({ t: 'hello', name, version, operations: marks, workflows, secrets });
  const reader = new FrameReader();
  for await (const chunk of wire)
    for (const message of reader.push(chunk as Buffer)) take(plugin, message as unknown as ToModule);
}

// The end of the wire is the end of the worker.
void serve(process.argv[2]!).finally(() => wire.end(() => process.exit()));
