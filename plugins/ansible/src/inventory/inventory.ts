import { mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import type { Place } from '../settings/place';
import type { Settings } from '../settings/settings';
import type { TaskScope } from '../settings/task-scope';
import { groupAndName, type HostValues, hostConfigOf, isCompute, valuesOf } from './host-config';
import { resolved } from './kept-secrets';
import { groupsOf, hostOf } from './manager-reads';
import { ansibleRequiresHost } from './requires-host';
import { isEmpty, sourcesOfHost } from './sources';

/** Folders of a run. */
export interface InventoryFolders {
  /** The copy of the playbook's folder. */
  playbook: string;
  /** For files that are only for their owner. */
  secret: string;
}

/**
 * Writes the inventory of a run and returns what `--inventory` gets: a file, or a list of names that ends with a comma.
 * @throws FatalError when there is none
 */
export async function writeInventory(
  scope: TaskScope,
  place: Place,
  settings: Settings,
  folders: InventoryFolders,
): Promise<string> {
  const given = settings.remerge_sources && place.target !== null ? '' : settings.sources;
  if (typeof given === 'string' && given !== '') return await fromText(scope, given, folders);
  const sources = isEmpty(given) ? await foundSources(scope, place, settings) : given;
  const whole = await withKeyFiles(await resolved(scope, sources), folders.secret);
  // JSON is YAML. Beside the playbook, so that its group_vars and host_vars are those of the inventory, too.
  return await written(join(folders.playbook, 'baton-hosts.yaml'), JSON.stringify(whole));
}

/** The inventory that the relationships have collected; else the host that the node is, is in or is related to. */
async function foundSources(scope: TaskScope, place: Place, settings: Settings): Promise<unknown> {
  if (place.target !== null && settings.remerge_sources) await ansibleRequiresHost(scope);
  const kept = place.instance.runtimeProperties.sources;
  if (!isEmpty(kept)) return kept;
  const host = await ownHost(scope, place);
  const { group, name } = groupAndName(host, scope.inputs.group_name, scope.inputs.hostname);
  return sourcesOfHost(name, hostConfigOf(host), group, await groupsOf(scope, host.nodeId));
}

async function ownHost(scope: TaskScope, { node, instance, target }: Place): Promise<HostValues> {
  if (target !== null) return valuesOf(target);
  const own = valuesOf({ node, instance });
  return isCompute(own) ? own : ((await hostOf(scope, instance.id)) ?? own);
}

/** A text is an inventory itself, a list of names, or the path of a file of the blueprint or of the worker. */
async function fromText(scope: TaskScope, text: string, { playbook }: InventoryFolders): Promise<string> {
  if (/[\n={[]/.test(text.trim()) || text.startsWith('---'))
    return await written(join(playbook, 'baton-hosts'), text);
  if (text.trim().endsWith(',')) return text.trim();
  if (text.startsWith('/')) {
    if (await stat(text).catch(() => null)) return text;
    throw new FatalError(`sources: there is no inventory ${text} on the machine of the worker`);
  }
  const content = await scope.ctx.getResource(text);
  return await written(join(playbook, basename(text)), content);
}

const KEY_NAMES = ['ansible_ssh_private_key_file', 'ansible_private_key_file'];

/** Writes each private key into a file that only its owner reads, and names the file in its place. */
async function withKeyFiles(value: unknown, folder: string): Promise<unknown> {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value;
  const entries: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const isKey = KEY_NAMES.includes(name) && typeof inner === 'string' && inner.includes('-----BEGIN ');
    entries.push([name, isKey ? await keyFile(inner, folder) : await withKeyFiles(inner, folder)]);
  }
  return Object.fromEntries(entries);
}

let keys = 0;

async function keyFile(text: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // ssh takes no key without a line end, and none with those of Windows.
  const lines = `${text.replaceAll('\r\n', '\n').trim()}\n`;
  return await written(join(folder, `key-${++keys}`), lines);
}

async function written(file: string, content: string | Uint8Array): Promise<string> {
  await writeFile(file, content, { mode: 0o600 });
  return file;
}
