import { type BaseScope, FatalError, type HttpAnswer } from '@baton/plugin-sdk';
import type { Dict } from '../json';

type Scope = Pick<BaseScope, 'manager' | 'hide'>;

const addressOf = (name: string): string => `/secrets/${encodeURIComponent(name)}`;

/** Reads a secret with its value; null: there is none. @throws FatalError when its value is hidden from the execution */
export async function readSecret({ manager, hide }: Scope, name: string): Promise<Dict | null> {
  const found = await manager().get<Dict | null>(addressOf(name), { missingOk: true });
  if (found !== null) hide(found.value);
  return found;
}

/**
 * Makes a secret, or with `isUpdate` gives it the value, and returns what the manager says about it, without its value.
 * @throws FatalError when there is a secret with this name already
 */
export async function writeSecret(
  scope: Scope,
  name: string,
  { value, isUpdate, mayBeOwn }: { value: string; isUpdate: boolean; mayBeOwn: boolean },
): Promise<Dict> {
  scope.hide(value);
  const answer = await scope.manager().request('PUT', addressOf(name), {
    json: { value, update_if_exists: isUpdate },
    retries: isUpdate ? 2 : 0,
  });
  if (answer.status < 300) return withoutValue(answer);
  if (answer.status !== 409)
    throw new FatalError(`the secret ${name} cannot be written: ${reasonOf(answer)}`);
  // An attempt that was lost may have made it: only the loss of a worker asks for this look.
  const present = mayBeOwn ? await readSecret(scope, name) : null;
  if (present?.value !== value) throw new FatalError(`the secret ${name} exists already: it is not replaced`);
  const { value: _, ...known } = present;
  return known;
}

export async function removeSecret({ manager }: Scope, name: string): Promise<void> {
  await manager().delete(addressOf(name), { missingOk: true });
}

function withoutValue(answer: HttpAnswer): Dict {
  const { value: _, ...known } = answer.text === '' ? {} : (answer.json() as Dict);
  return known;
}

function reasonOf(answer: HttpAnswer): string {
  try {
    return String((answer.json() as Dict).message ?? answer.status);
  } catch {
    return String(answer.status);
  }
}
