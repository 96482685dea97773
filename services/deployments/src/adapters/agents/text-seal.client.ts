import { secretsRpc } from '@baton/contracts';
import { Secret } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';

/** Texts that the secrets service encrypts under its master key; this service has the ciphertext and no key. Not in a transaction. */
export interface TextSealPort {
  seal(use: string, text: Secret): Promise<Buffer>;
  /** Null: the master key is not configured any more, or the ciphertext belongs to something else. */
  open(use: string, sealed: Buffer): Promise<{ text: Secret; isOutdated: boolean } | null>;
}

/** Authorities belong to no tenant. */
const TENANT = '';

export function createTextSealClient(rpc: RpcConnector): TextSealPort {
  const client = rpc.client(secretsRpc.TextSealServiceDefinition, 'secrets');
  return {
    async seal(use, text) {
      const { sealed } = await client.sealText({ tenant: TENANT, use, text: text.expose() });
      return Buffer.from(sealed);
    },
    async open(use, sealed) {
      const { isReadable, text, isOutdated } = await client.openText({ tenant: TENANT, use, sealed });
      return isReadable ? { text: new Secret(text), isOutdated } : null;
    },
  };
}
