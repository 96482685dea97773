import { open } from 'node:fs/promises';
import { isAppError, isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { FatalError, isMarkedError, operationErrorMark } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import type { CallMethod, FilePart, WireFailure } from './protocol';

const PART_BYTES = 1024 * 1024;
const MAX_PATH_CHARS = 4096;

type Call = (args: readonly unknown[]) => Promise<unknown>;
/** The calls that one operation may make. There are no others. */
export type Calls = Readonly<Record<CallMethod, Call>>;

/** Returns the calls of an operation. Each argument comes from the plugin and is checked here. */
export function callsOf({ task, host }: OperationSession, declared: readonly string[]): Calls {
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
