import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';
import { isInside } from '../source/safe-path';

/** What init writes down about the backend of a module. */
const CHOSEN = z.object({
  backend: z.object({ type: z.string(), config: z.record(z.string(), z.any()).nullish() }).nullish(),
});

/**
 * Where terraform keeps the state of an initialized module; null: another backend has it.
 * @throws FatalError for a local backend whose file lies outside of the module: no later operation would find it
 */
export async function statePath(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, '.terraform/terraform.tfstate'), 'utf8').catch(() => '{}');
  const { backend } = CHOSEN.parse(JSON.parse(text));
  if (!backend) return join(folder, 'terraform.tfstate');
  if (backend.type !== 'local') return null;
  const given = backend.config?.path;
  const path = resolve(folder, typeof given === 'string' && given !== '' ? given : 'terraform.tfstate');
  const parent = await realpath(dirname(path)).catch(() => null);
  if (parent !== null && isInside(folder, parent)) return path;
  throw new FatalError(
    'the local backend of the module has a path outside of it: leave path out, the state is kept by the manager',
  );
}
