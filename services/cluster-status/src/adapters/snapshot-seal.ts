import { secretsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

/** The calls to the secrets service that seal archives and check seals; the secrets service holds the key. */
export interface SealPort {
  /** @param digest SHA-256 of the manifest. */
  seal(digest: Buffer): Promise<{ master_key_id: string; seal: string }>;
  check(
    digest: Buffer,
    given: { master_key_id: string; seal: string },
  ): Promise<'good' | 'unknown-key' | 'forged'>;
}

export function createSealClient(rpc: RpcConnector): SealPort {
  const client = rpc.client(secretsRpc.SnapshotSealServiceDefinition, 'secrets');
  return {
    async seal(digest) {
      const { masterKeyId, seal } = await client.sealSnapshot({ digest });
      return { master_key_id: masterKeyId, seal: Buffer.from(seal).toString('hex') };
    },
    async check(digest, { master_key_id, seal }) {
      const answer = await client.checkSnapshotSeal({
        digest,
        masterKeyId: master_key_id,
        seal: Buffer.from(seal, 'hex'),
      });
      if (!answer.isKnownKey) return 'unknown-key';
      return answer.isValid ? 'good' : 'forged';
    },
  };
}
