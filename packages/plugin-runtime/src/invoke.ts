import { join } from 'node:path';
import { afterDelay, type Json } from '@baton/kernel';
import { isResumable, type PluginOperation } from '@baton/plugin-sdk';
import { RunContext } from './context/run-context';
import { OperationSession } from './context/session';
import { settled } from './context/settled';
import type { OperationHost } from './host';
import type { ModuleProcesses } from './module/module-pool';
import { runModule } from './module/run-module';
import { endOfThrown, type OperationEnd, stopReason } from './operation-end';
import {
  cannotResume,
  type OperationRegistry,
  SCRIPT_MAPPING,
  unknownMapping,
  type WorkflowRegistry,
} from './registry';
import { runFunction } from './script/run-function';
import { runOverSsh } from './script/run-over-ssh';
import { runScript } from './script/run-script';
import { makeRunDir, type RunDir, type ScriptSettings } from './script/settings';
import type { WarmPython } from './script/warm-python';
import type { OperationTask } from './task';
import { untilStopped } from './until-stopped';

export interface InvokeDeps {
  operations: OperationRegistry;
  workflows?: WorkflowRegistry;
  scripts: ScriptSettings;
  /** Servers for functions of Python plugins and for scripts; absent: each starts its own process. */
  warm?: WarmPython;
  /** Processes of TypeScript plugins; absent: their operations fail. */
  modules?: ModuleProcesses;
}

/**
 * Runs one attempt of an operation to its end. Never throws: every failure is an end (reference/workflows.md 3.6, 5.3).
 * Changed runtime properties are stored before this resolves, also when the operation failed, but not when it was
 * stopped. Aborting `signal` (reason: a StopReason) kills the process group of a script.
 */
export async function invoke(
  task: OperationTask,
  host: OperationHost,
  deps: InvokeDeps,
  signal: AbortSignal,
): Promise<OperationEnd> {
  if (task.isDryRun) return { kind: 'succeeded', result: null };
  if (signal.aborted) return { kind: 'stopped', reason: stopReason(signal) };
  const operation = task.isOverSsh === true ? undefined : deps.operations.get(task.mapping);
  // The operation may have had its effect: only an operation declared resumable runs again automatically (scripts do).
  if (task.isResumed && operation && !isResumable(operation)) {
    return endOfThrown(cannotResume(task.mapping));
  }
  if (task.timeoutMs === null || task.timeoutMs <= 0) return run(task, host, deps, signal, operation);

  const either = new AbortController();
  const forward = (): void => either.abort(signal.reason);
  const leaveTimer = afterDelay(task.timeoutMs, () => either.abort('timeout'));
  signal.addEventListener('abort', forward, { once: true });
  try {
    const end = await run(task, host, deps, either.signal, operation);
    return end.kind === 'stopped' && either.signal.reason === 'timeout' ? timedOut(task) : end;
  } finally {
    leaveTimer();
    signal.removeEventListener('abort', forward);
  }
}

function timedOut(task: OperationTask): OperationEnd {
  const exceptionType = task.isTimeoutRecoverable ? 'RecoverableError' : 'NonRecoverableError';
  const message = `Process killed due to timeout of ${(task.timeoutMs ?? 0) / 1000} seconds`;
  const own = { type: exceptionType, message, traceback: '' };
  return { kind: 'timed-out', failure: { exceptionType, message, traceback: null, causes: [own] } };
}

async function run(
  task: OperationTask,
  host: OperationHost,
  deps: InvokeDeps,
  signal: AbortSignal,
  operation: PluginOperation | undefined,
): Promise<OperationEnd> {
  const session = new OperationSession(task, host, signal);
  return settled(session, operation ? 'with-frames' : 'without-frames', () =>
    operation ? callOperation(operation, session, deps) : runProcessOf(session, deps),
  );
}

/** Runs a script, or a function of an uploaded plugin. @throws FatalError for a mapping that is neither */
async function runProcessOf(session: OperationSession, deps: InvokeDeps): Promise<OperationEnd> {
  const { mapping, plugin, isOverSsh } = session.task;
  if (isOverSsh === true) return await runOverSsh(session, deps.scripts);
  if (mapping === SCRIPT_MAPPING) return await runScript(session, deps.scripts, { warm: deps.warm ?? null });
  const installed = await session.host.installedPlugin(plugin.name);
  if (!installed) throw unknownMapping(mapping, plugin.name, [SCRIPT_MAPPING, ...deps.operations.keys()]);
  if (installed.kind === 'module') return await runModule(session, deps.modules, installed);
  return await runFunction(session, deps.scripts, installed, { warm: deps.warm ?? null });
}

async function callOperation(
  operation: PluginOperation,
  session: OperationSession,
  deps: InvokeDeps,
): Promise<OperationEnd> {
  let runDir: Promise<RunDir> | null = null;
  const tempDir = async (): Promise<string> =>
    (await (runDir ??= makeRunDir(deps.scripts.workRoot, null))).path;
  const ctx = new RunContext(session, tempDir, join(deps.scripts.assetsDir, 'bin'));
  try {
    const inputs = session.task.hasFunctions ? await session.inputs() : session.task.inputs;
    const returned = operation(ctx, inputs as Record<string, Json>);
    const result = returned instanceof Promise ? await untilStopped(returned, session.signal) : returned;
    return { kind: 'succeeded', result };
  } finally {
    if (runDir) await (await (runDir as Promise<RunDir>)).remove();
  }
}
