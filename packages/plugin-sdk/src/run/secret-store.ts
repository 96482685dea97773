import { FatalError, isMarkedError } from '../errors';
import type { Http } from '../tools/http-options';

/** Secrets of the tenant, with the rights of the execution. */
export interface SecretStore {
  /** Undefined: there is none. @throws FatalError when the execution may not read it */
  read(name: string): Promise<string | undefined>;
  /** Makes a secret, or changes its value. @throws FatalError when the execution may not */
  write(name: string, value: string): Promise<void>;
  /** Removes a secret, when there is one. @throws FatalError when the execution may not */
  remove(name: string): Promise<void>;
}

/** The secrets of the manager that runs the operation. `manager`: requests to it, made when they are needed. */
export function managerSecrets(manager: () => Http): SecretStore {
  const addressOf = (name: string): string => `/secrets/${encodeURIComponent(name)}`;
  return {
    read: async (name) => {
      const found = await allowed('read', name, manager().get(addressOf(name), { missingOk: true }));
      if (found === null) return undefined;
      const { value } = found as { value?: unknown };
      if (value === undefined || value === null || value === '')
        throw new FatalError(`the execution may not read the secret ${name}: its value is hidden`);
      return typeof value === 'string' ? value : JSON.stringify(value);
    },
    write: async (name, value) => {
      const json = { value, update_if_exists: true, visibility: 'tenant' };
      await allowed('write', name, manager().put(addressOf(name), { json }));
    },
    remove: async (name) => {
      await allowed('remove', name, manager().delete(addressOf(name), { missingOk: true }));
    },
  };
}

/** A refusal gets the reason that people can act on. The answer itself never holds a value. */
async function allowed<T>(what: string, name: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    if (!isMarkedError(cause) || !/answered 40[39]/.test(cause.message)) throw cause;
    throw new FatalError(
      `the execution may not ${what} the secret ${name}, which holds a sensitive runtime property: the user who started it needs ` +
        'a role that may write secrets',
      { cause },
    );
  }
}
