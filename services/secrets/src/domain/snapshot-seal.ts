/**
 * Seals of snapshots: an HMAC of the manifest under a key derived from the master key. It proves that a manager with this master
 * key made the archive, and that the archive is unchanged since. It follows that the secrets in it can be decrypted here.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { MasterKey } from './envelope';

export interface SnapshotSeal {
  masterKeyId: string;
  seal: Buffer;
}

function sealOf(master: MasterKey, digest: Uint8Array): Buffer {
  const key = Buffer.from(hkdfSync('sha256', master.key.expose(), 'baton secrets', 'seal of snapshots', 32));
  return createHmac('sha256', key).update(digest).digest();
}

export function sealSnapshot(master: MasterKey, digest: Uint8Array): SnapshotSeal {
  return { masterKeyId: master.id, seal: sealOf(master, digest) };
}

/** Checks whether the key of a seal is configured (former keys count), and whether the seal is right. */
export function checkSnapshotSeal(
  masters: readonly MasterKey[],
  given: { digest: Uint8Array; masterKeyId: string; seal: Uint8Array },
): { isKnownKey: boolean; isValid: boolean } {
  const master = masters.find(({ id }) => id === given.masterKeyId);
  if (!master) return { isKnownKey: false, isValid: false };
  const expected = sealOf(master, given.digest);
  const isValid = given.seal.length === expected.length && timingSafeEqual(expected, given.seal);
  return { isKnownKey: true, isValid };
}
