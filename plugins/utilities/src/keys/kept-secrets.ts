import type { Http } from '@baton/plugin-sdk';
import * as z from 'zod';

/** The two secrets of the manager that hold a pair. */
export const secretNames = (keyName: string) => ({
  privateName: `${keyName}_private`,
  publicName: `${keyName}_public`,
});

const SECRET = z.object({ value: z.string().nullish() });

/** A secret that exists. */
interface Kept {
  /** Empty: it is empty, or hidden from the creator of the execution. */
  value: string;
}

/** Reads a secret; null: there is none. @throws FatalError, RetryableError */
export async function readSecret(manager: Http, name: string): Promise<Kept | null> {
  const found = SECRET.nullable().parse(await manager.get(addressOf(name), { missingOk: true }));
  return found === null ? null : { value: found.value ?? '' };
}

/** Makes a secret. @throws FatalError when there is one with this name */
export async function makeSecret(manager: Http, name: string, value: string): Promise<void> {
  // A repeated request would find the secret of the first one, and fail.
  await manager.put(addressOf(name), { json: { value, update_if_exists: false }, retries: 0 });
}

/** Removes a secret, when there is one. */
export async function removeSecret(manager: Http, name: string): Promise<void> {
  await manager.delete(addressOf(name), { missingOk: true });
}

const addressOf = (name: string): string => `/secrets/${encodeURIComponent(name)}`;
