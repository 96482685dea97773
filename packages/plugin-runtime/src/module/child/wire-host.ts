import { mkdtemp, open } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, type ErrorCode } from '@baton/kernel';
import { FatalError, RetryableError } from '@baton/plugin-sdk';
import type { OperationHost } from '../../host';
import type { CallMethod, FilePart, FromModule, WireFailure } from '../protocol';

export type Say = (message: FromModule) => void;

/** Answers that calls of one operation wait for. */
export class Waiting {
  #calls = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  #last = 0;
  readonly #op: number;
  readonly #say: Say;

  constructor(op: number, say: Say) {
    this.#op = op;
    this.#say = say;
  }

  ask<Answer>(method: CallMethod, args: unknown[]): Promise<Answer> {
    const id = ++this.#last;
    return new Promise<Answer>((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      try {
        this.#say({ t: 'call', op: this.#op, id, method, args });
      } catch (error) {
        this.#calls.delete(id);
        reject(error as Error);
      }
    });
  }

  answer(id: number, value: unknown, failure: WireFailure | undefined): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (failure) call?.reject(errorOf(failure));
    else call?.resolve(value as never);
  }
}

function errorOf({ message, code, details, kind }: WireFailure): Error {
  if (code !== null) return new AppError(code as ErrorCode, message, details);
  if (kind === 'fatal') return new FatalError(message);
  return kind === null ? new Error(message) : new RetryableError(message);
}

const elsewhere = (): never => {
  throw new FatalError('this is not offered to TypeScript plugins');
};

/** The host of an operation in the process of its plugin: each call goes to the worker. `tempDir`: a folder of the operation. */
export function wireHost(
  op: number,
  waiting: Waiting,
  say: Say,
  tempDir: () => Promise<string>,
): OperationHost {
  return {
    open: () => waiting.ask('open', []),
    saveRuntimeProperties: (write) => waiting.ask('save', [write]),
    readDeployment: () => waiting.ask('readDeployment', []),
    listResources: (path) => waiting.ask('listResources', [path]),
    secret: (name) => waiting.ask('secret', [name]),
    agentScript: (config) => waiting.ask('agentScript', [config]),
    readResource: async (path) => {
      const first = await waiting.ask<FilePart>('readPart', [path, 0]);
      const place = join(await mkdtemp(join(await tempDir(), 'file-')), 'content');
      const file = await open(place, 'wx', 0o600);
      try {
        let at = 0;
        for (let part = first; ; part = await waiting.ask<FilePart>('readPart', [path, at])) {
          const data = Buffer.from(part.data, 'base64');
          await file.write(data, 0, data.length, at);
          at += data.length;
          if (part.isLast) return place;
        }
      } finally {
        await file.close();
      }
    },
    emit: (kind, level, message) => say({ t: 'line', op, kind, level, message }),
    cutText: (_, at) => at,
    hide: (text) => text,
    fetchUrl: elsewhere,
    installedPlugin: elsewhere,
    deploymentPlace: elsewhere,
    deploymentDir: elsewhere,
  };
}
