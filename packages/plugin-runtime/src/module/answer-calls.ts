import { open } from 'node:fs/promises';
import { isAppError, isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { FatalError, isMarkedError, operationErrorMark } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import type { WorkPort, WorkSubmission } from '../workflow/work';
import type { CallMethod, FilePart, WireFailure, WorkMethod } from './protocol';

const PART_BYTES = 1024 * 1024;
const MAX_PATH_CHARS = 4096;

type Call = (args: readonly unknown[]) => Promise<unknown>;
/** The calls that one operation may make. There are no others. */
export type Calls = Readonly<Record<CallMethod, Call>>;

/** What a run in a process may use, besides its session. */
export interface Allowed {
  /** Names of secrets. */
  secrets: readonly string[];
  /** The engine, for the code of a workflow; null for an operation. */
  port: WorkPort | null;
}

/**
 * Returns the calls of an operation, or of the code of a workflow. Each argument comes from the plugin and is checked here.
 * `over`: aborted when the run has ended.
 */
export function callsOf(session: OperationSession, { secrets, port }: Allowed, over: AbortSignal): Calls {
  return { ...operationCalls(session, secrets), ...workCalls(port, over) };
}

function operationCalls(
  { task, host }: OperationSession,
  declared: readonly string[],
): Omit<Calls, WorkMethod> {
  const own = [task.self?.nodeInstanceId, task.related?.nodeInstanceId];
  const places = new Map<string, string>();
  return {
    open: () => host.open(),
    readDeployment: () => host.readDeployment(),
    listResources: ([path]) => host.listResources(textArgument('path', path)),
    save: ([write]) => {
      const { instanceId, version, properties } = isJsonObject(write as Json) ? (write as JsonObject) : {};
      if (typeof instanceId !== 'string' || !own.includes(instanceId))
        throw new FatalError('an operation stores runtime properties of its own instances only');
      if (!Number.isSafeInteger(version) || !isJsonObject(properties))
        throw new FatalError(`runtime properties of ${instanceId} must be a dictionary, with its version`);
      return host.saveRuntimeProperties({ instanceId, version: version as number, properties });
    },
    readPart: async ([given, at]) => {
      const path = textArgument('path', given);
      if (!Number.isSafeInteger(at) || (at as number) < 0) throw new FatalError('at: expected a position');
      const place = places.get(path) ?? (await host.readResource(path));
      const part = await readPart(place, at as number);
      if (part.isLast) places.delete(path);
      else places.set(path, place);
      return part;
    },
    agentScript: ([given]) => {
      if (host.agentScript === undefined)
        throw new FatalError('ctx.agent is offered by workers of the manager, not at a host');
      return host.agentScript(objectArgument('agent_config', given));
    },
    secret: ([given]) => {
      const name = textArgument('secret', given);
      if (!declared.includes(name))
        throw new FatalError(
          `the plugin does not declare the secret ${name}; it declares: ${declared.join(', ') || 'none'} (secrets of definePlugin)`,
        );
      return host.secret(name);
    },
  };
}

/** The engine checks the work itself (packages/contracts/src/workflow-work.ts): here only the shapes of the calls are checked. */
function workCalls(port: WorkPort | null, over: AbortSignal): Pick<Calls, WorkMethod> {
  if (port === null) {
    const refuse = async (): Promise<never> => {
      throw new FatalError('an operation submits no work: only the code of a workflow does');
    };
    return { submitWork: refuse, awaitWork: refuse, callEngine: refuse };
  }
  let isAwaiting = false;
  return {
    submitWork: ([work]) => port.submit(objectArgument('work', work) as WorkSubmission),
    awaitWork: async ([given]) => {
      const { version, isCancelKnown } = objectArgument('after', given);
      if (!Number.isSafeInteger(version)) throw new FatalError('after.version: expected a number');
      if (isAwaiting) throw new FatalError('the code waits for news of its tasks already');
      isAwaiting = true;
      try {
        return await port.await({ version: version as number, isCancelKnown: isCancelKnown === true }, over);
      } finally {
        isAwaiting = false;
      }
    },
    callEngine: ([key, request]) => port.call(textArgument('key', key), objectArgument('request', request)),
  };
}

function objectArgument(name: string, value: unknown): JsonObject {
  if (isJsonObject(value as Json)) return value as JsonObject;
  throw new FatalError(`${name}: expected a dictionary`);
}

function textArgument(name: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= MAX_PATH_CHARS) return value;
  throw new FatalError(`${name}: expected a text of at most ${MAX_PATH_CHARS} characters`);
}

async function readPart(path: string, at: number): Promise<FilePart> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const wanted = Math.max(0, Math.min(PART_BYTES, size - at));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, at);
    return {
      data: buffer.toString('base64', 0, bytesRead),
      isLast: bytesRead < PART_BYTES || at + bytesRead >= size,
    };
  } finally {
    await file.close();
  }
}

/** Describes an error for the process. */
export function failureOf(error: unknown): WireFailure {
  const message = error instanceof Error ? error.message : String(error);
  const kind = isMarkedError(error) ? error[operationErrorMark] : null;
  if (!isAppError(error)) return { message, code: null, details: {}, kind };
  return { message, code: error.code, details: JSON.parse(JSON.stringify(error.details)), kind };
}
