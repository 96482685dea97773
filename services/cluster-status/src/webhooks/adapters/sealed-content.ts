import { secretsRpc } from '@baton/contracts';
import { Secret } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';

/** Texts that the secrets service encrypts: this service keeps the ciphertext and no key. Not inside a transaction. */
export interface TextSealPort {
  seal(of: { tenant: string; use: string }, text: Secret): Promise<Buffer>;
  /** Null: the master key is not configured any more, or the ciphertext belongs to something else. */
  open(
    of: { tenant: string; use: string },
    sealed: Buffer,
  ): Promise<{ text: Secret; isOutdated: boolean } | null>;
}

export function createTextSealClient(rpc: RpcConnector): TextSealPort {
  const client = rpc.client(secretsRpc.TextSealServiceDefinition, 'secrets');
  return {
    async seal(of, text) {
      const { sealed } = await client.sealText({ ...of, text: text.expose() });
      return Buffer.from(sealed);
    },
    async open(of, sealed) {
      const { isReadable, text, isOutdated } = await client.openText({ ...of, sealed });
      return isReadable ? { text: new Secret(text), isOutdated } : null;
    },
  };
}
