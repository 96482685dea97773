import { secretsRpc } from '@baton/contracts';
import { Secret } from '@baton/kernel';
import { type RpcPart, rpcPart } from '@baton/service-runtime';
import { shownValue } from '../adapters/secret-value';
import type { MasterKey } from '../domain/envelope';
import { openText, sealText } from '../domain/sealed-text';
import { maySeeValue, type Who } from '../domain/secret-access';
import { checkSnapshotSeal, sealSnapshot } from '../domain/snapshot-seal';
import { readValue, type ValueDeps, visibleByKey } from '../queries/read-value';

/** The most values that are looked up in parallel; some are fetched from providers. */
const AT_ONCE = 16;

/** Returns values at the time of their use, for other services that act for a user. No value is written anywhere on the way. */
export function secretsRpcPart(deps: ValueDeps): RpcPart {
  return rpcPart(secretsRpc.SecretsServiceDefinition, {
    async getSecretValues({ tenant, keys, username, isAdministrator }) {
      const who: Who = { tenant, username, isAdministrator, administered: [] };
      const rows = await visibleByKey(deps.db, who, keys);
      const answer: secretsRpc.GetSecretValuesResponse = { valuesJson: {}, missing: [], hidden: [] };
      const release = async (key: string): Promise<void> => {
        const row = rows.get(key);
        if (row === undefined) answer.missing.push(key);
        else if (!maySeeValue(who, row)) answer.hidden.push(key);
        else answer.valuesJson[key] = JSON.stringify(shownValue(await readValue(deps, row), row.schema));
      };
      const wanted = [...new Set(keys)];
      for (let at = 0; at < wanted.length; at += AT_ONCE)
        await Promise.all(wanted.slice(at, at + AT_ONCE).map(release));
      return answer;
    },
  });
}

/** Seals of snapshots, for cluster-status. */
export function snapshotSealRpcPart({ masters }: { masters: readonly MasterKey[] }): RpcPart {
  return rpcPart(secretsRpc.SnapshotSealServiceDefinition, {
    sealSnapshot: async ({ digest }) => sealSnapshot(masters[0]!, digest),
    checkSnapshotSeal: async (request) => checkSnapshotSeal(masters, request),
  });
}

/** Encryption of texts that another service keeps (signing keys of webhooks), for cluster-status. */
export function textSealRpcPart({ masters }: { masters: readonly MasterKey[] }): RpcPart {
  return rpcPart(secretsRpc.TextSealServiceDefinition, {
    sealText: async ({ text, ...identity }) => ({
      sealed: sealText(masters[0]!, identity, new Secret(text)),
    }),
    openText: async ({ sealed, ...identity }) => {
      const opened = openText(masters, identity, Buffer.from(sealed));
      if (opened === null) return { isReadable: false, text: '', isOutdated: false };
      return { isReadable: true, text: opened.text.expose(), isOutdated: opened.isOutdated };
    },
  });
}
