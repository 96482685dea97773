import { readSecret, removeSecret, secretNames } from './kept-secrets';
import { readKeyFile, removeKeyFile } from './key-files';
import { fingerprintOfPublic, pairOf } from './key-pair';
import type { KeyScope } from './schema';

/** Removes the secrets and files of the node: those that still hold its key. What others have put there stays. */
export async function deleteKey(scope: KeyScope): Promise<void> {
  await deleteSecrets(scope);
  const { runtime, log } = scope;
  for (const path of [runtime.private_key_path, runtime.public_key_path]) {
    const text = path === undefined ? null : await readKeyFile(path);
    if (path === undefined || text === null) continue;
    if (isOwn(scope, text)) await removeKeyFile(path);
    else log.warning(`The file ${path} holds another key, and stays`);
  }
}

async function deleteSecrets(scope: KeyScope): Promise<void> {
  const { runtime, manager, log } = scope;
  const { secret_key_name: keyName, secrets_key_owner: isOwner, key_fingerprint: fingerprint } = runtime;
  if (keyName === undefined) return;
  // Without an owner the creation ended early: the fingerprint alone tells what it had made.
  if (isOwner === false || (isOwner === undefined && fingerprint === undefined)) {
    log.info('The secrets stay: this deployment did not make them');
    return;
  }
  const { privateName, publicName } = secretNames(keyName);
  for (const name of [privateName, publicName]) {
    const kept = await readSecret(manager(), name);
    if (kept === null) continue;
    if (isOwn(scope, kept.value)) await removeSecret(manager(), name);
    else log.warning(`The secret ${name} holds another key, and stays`);
  }
}

/** Whether a text is a key of the node's pair. Nodes that the original plugin made know no fingerprint: their owner is believed. */
function isOwn({ runtime: { key_fingerprint: own } }: KeyScope, text: string): boolean {
  if (own === undefined) return true;
  return (pairOf(text)?.fingerprint ?? fingerprintOfPublic(text)) === own;
}
