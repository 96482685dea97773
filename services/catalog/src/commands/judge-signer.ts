import { AppError } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import type { PluginPackage } from '../domain/plugin-package';
import type { PublicKey } from '../domain/plugin-signature';
import { readTrust } from '../queries/read-plugin-keys';
import { findKey, lockKeys } from '../store/plugin-keys.sql';
import type { DB } from '../store/tables.gen';

/**
 * Returns what the tenant thinks of the signature.
 * @throws AppError forbidden_error when it may not take the package
 */
export async function judgedSigner(
  { requiresSignatures }: { requiresSignatures: boolean },
  tx: Tx<DB>,
  tenant: string,
  { signer, package: { archive_name: archive } }: { signer: PublicKey | null; package: PluginPackage },
) {
  if (signer) await lockKeys(tx, tenant);
  const fingerprint = signer?.fingerprint ?? null;
  const key = fingerprint === null ? null : await findKey(tx, tenant, { fingerprint });
  const { requires_signature: isRequired } = await readTrust(tx, tenant, requiresSignatures);
  const refuse = (why: string): never => {
    throw new AppError('forbidden_error', `plugin ${archive} is refused: ${why}`, {
      archive_name: archive,
      fingerprint,
    });
  };
  if (key?.state === 'revoked') return refuse(`it is signed by the key \`${key.name}\`, which is revoked`);
  if (isRequired && fingerprint === null)
    return refuse(
      `tenant \`${tenant}\` takes only plugins that a trusted key has signed, and it has no signature`,
    );
  if (isRequired && key === null)
    return refuse(
      `tenant \`${tenant}\` takes only plugins that a trusted key has signed, and it does not know the key ${fingerprint}`,
    );
  return {
    signer_fingerprint: fingerprint,
    signer_name: key?.name ?? null,
    signer_state: fingerprint === null ? null : key ? 'trusted' : 'unknown',
  };
}
