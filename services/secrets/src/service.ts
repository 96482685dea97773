/** Composition of secrets. */
import { addressRule, chooseWire, createSafeFetch } from '@baton/http';
import { createImportPart } from '@baton/import-part';
import { createUserLookup } from '@baton/rpc';
import { type Infra, requireDb, type ServiceParts } from '@baton/service-runtime';
import { createSnapshotPart, createTenantPart } from '@baton/snapshot-part';
import { loadMasterKeys } from './adapters/master-keys';
import { createProviderClient } from './adapters/provider-client';
import type { Config } from './config';
import { cloudifyWire } from './http/cloudify/wire-policy';
import { providersHttp } from './http/providers.routes';
import { secretsHttp } from './http/secrets.routes';
import { specWire } from './http/wire-policy';
import { createImportTables, createStageSealer } from './imports/import-tables';
import { rewrapLoop } from './loops/rewrap-keys.loop';
import { secretsRpcPart, snapshotSealRpcPart, textSealRpcPart } from './rpc/secrets.rpc';
import { findUnknownMasterKeys } from './store/master-keys.sql';
import { snapshotTables } from './store/snapshot-tables';
import type { DB } from './store/tables.gen';

export { type Config, configSchema } from './config';

export const serviceName = 'secrets';

export async function buildService(config: Config, infra: Infra): Promise<ServiceParts> {
  const db = requireDb<DB>(infra);
  const masters = await loadMasterKeys({
    key: config.BATON_SECRETS_KEY,
    file: config.BATON_SECRETS_KEY_FILE,
    oldKeys: config.BATON_SECRETS_OLD_KEYS,
  });
  const fetch = createSafeFetch({ isAllowed: addressRule(config.BATON_SECRETS_PROVIDER_ALLOW) });
  const deps = {
    db,
    masters,
    providers: createProviderClient(fetch),
    clock: infra.clock,
    findUser: createUserLookup(infra.rpc),
  };
  const wire = chooseWire(config.BATON_WIRE, { spec: specWire, cloudify: cloudifyWire });
  return {
    name: 'secrets',
    routes: [...secretsHttp(deps, wire), ...providersHttp(deps)],
    rpc: [
      secretsRpcPart(deps),
      snapshotSealRpcPart(deps),
      textSealRpcPart(deps),
      createSnapshotPart({ db, schema: 'secrets', tables: snapshotTables, log: infra.log }),
      createTenantPart({ db, schema: 'secrets' }),
      createImportPart({
        db,
        tables: createImportTables(deps),
        sealer: createStageSealer(deps),
        log: infra.log,
      }),
    ],
    consumers: [],
    subscriptions: [],
    loops: [rewrapLoop(deps)],
    checks: { database: () => db.ping() },
    start: async () => {
      const unknown = await findUnknownMasterKeys(
        db.query,
        masters.map((m) => m.id),
      );
      if (unknown.length > 0)
        infra.log.error(
          { masterKeyIds: unknown },
          'secrets are stored under master keys that are not configured',
        );
    },
  };
}
