import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { withoutSensitive } from '../settings/sensitive-values';
import type { Settings } from '../settings/settings';

/** Settings that decide what a playbook makes. Passwords are left out: a digest of a short one could be guessed. */
const DECIDING = [
  'playbook_path',
  'site_yaml_path',
  'run_data',
  'options_config',
  'tags',
  'start_at_task',
] as const;

/** Digests of what was applied, by name: `files` of the playbook's folder, and settings. */
export type Applied = Record<string, string>;

/** Digests of the settings, and of all files in the folder of the playbook but its inventory. */
export async function appliedOf(settings: Settings, folder: string): Promise<Applied> {
  const of: Applied = { files: await digestOfFolder(folder) };
  for (const name of DECIDING)
    of[name] = digest(canonical(withoutSensitive(settings[name], settings.sensitive_keys)));
  return of;
}

async function digestOfFolder(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('baton-hosts'));
  const paths = files.map((entry) => join(entry.parentPath ?? entry.path, entry.name)).sort();
  for (const path of paths)
    hash
      .update(`${relative(folder, path)}\0`)
      .update(digest(await readFile(path)))
      .update('\0');
  return hash.digest('hex').slice(0, DIGITS);
}

const DIGITS = 16;
const digest = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex').slice(0, DIGITS);

function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? 'null'
  );
}
