import { configChanged } from '@baton/contracts';
import { chooseWire } from '@baton/http';
import type { Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { type Infra, requireDb, type ServiceParts, subscriptionPart } from '@baton/service-runtime';
import { createDoctorPart, createSnapshotPart } from '@baton/snapshot-part';
import { createActivity } from './adapters/activity';
import { createAuthorizationCache } from './adapters/authorization-cache';
import { createLockConfig } from './adapters/lock-config';
import { createPasswords } from './adapters/passwords';
import { createTenantParts, type TenantParts } from './adapters/tenant-parts';
import { createTenantUsage } from './adapters/tenant-usage';
import { type Bootstrapped, bootstrapAdminName, bootstrapManager } from './commands/bootstrap';
import { reopenAbandonedTenants } from './commands/delete-tenant';
import { purgeExpiredTokens } from './commands/tokens';
import type { Config } from './config';
import { configuredLimits } from './domain/quota';
import { cloudifyWire } from './http/cloudify/wire-policy';
import { permissionsHttp } from './http/permissions.routes';
import { tenantsHttp } from './http/tenants.routes';
import { tokensHttp } from './http/tokens.routes';
import { userGroupsHttp } from './http/user-groups.routes';
import { usersHttp } from './http/users.routes';
import { specWire } from './http/wire-policy';
import { clearTenants } from './loops/clear-tenants.loop';
import { identityRpcPart } from './rpc/identity.rpc';
import { doctorChecks } from './store/doctor.sql';
import { snapshotTables } from './store/snapshot-tables';
import type { DB as Tables } from './store/tables.gen';

export type { Bootstrapped } from './commands/bootstrap';
export { type Config, configSchema } from './config';

export const serviceName = 'identity';

const ACTIVITY_MS = 5_000;
const MINUTE_MS = 60_000;

/**
 * Makes roles, permissions, default_tenant and `admin` where they are missing; for callers that keep the generated
 * password themselves (standalone). The service does the same when it starts.
 */
export async function bootstrap(
  db: Db<Tables>,
  options: { adminPassword?: Secret } = {},
): Promise<Bootstrapped> {
  return bootstrapManager({ db, passwords: createPasswords() }, options);
}

/** `tenantParts`: what other services hold of a tenant; a tenant with contents is not deleted. */
export function buildService(
  config: Config,
  infra: Infra,
  ports: { tenantParts?: TenantParts } = {},
): ServiceParts {
  const db = requireDb<Tables>(infra);
  const passwords = createPasswords();
  const activity = createActivity(db);
  const lockConfig = createLockConfig(infra.rpc, {
    failedLoginsBeforeLock: config.BATON_FAILED_LOGINS_BEFORE_ACCOUNT_LOCK,
    lockPeriodMinutes: config.BATON_ACCOUNT_LOCK_PERIOD,
  });
  const deps = {
    db,
    passwords,
    activity,
    authorizationAt: createAuthorizationCache(db),
    lock: lockConfig.settings,
    wire: chooseWire(config.BATON_WIRE, { spec: specWire, cloudify: cloudifyWire }),
    cacheMs: config.BATON_CREDENTIAL_CACHE_MS,
    nowMs: () => databaseNowMs(db),
    tenantParts: ports.tenantParts ?? createTenantParts(infra.rpc),
    defaultLimits: configuredLimits(config),
    usageOf: createTenantUsage(infra),
  };
  const clearing = clearTenants({ db, tenantParts: deps.tenantParts, log: infra.log });
  return {
    name: 'identity',
    routes: [
      ...usersHttp(deps),
      ...tenantsHttp({ ...deps, kickClearing: () => void clearing.work() }),
      ...userGroupsHttp(deps),
      ...tokensHttp(deps),
      ...permissionsHttp(deps),
    ],
    rpc: [identityRpcPart(deps), ...tableParts(deps, infra.log)],
    consumers: [],
    subscriptions: [subscriptionPart(configChanged, () => lockConfig.refresh())],
    loops: [
      { name: 'write-activity', intervalMs: ACTIVITY_MS, tickOnce: () => activity.flush() },
      { name: 'purge-tokens', intervalMs: 10 * MINUTE_MS, tickOnce: () => purgeExpiredTokens(deps) },
      { name: 'reopen-tenants', intervalMs: MINUTE_MS, tickOnce: () => reopenAbandonedTenants(deps) },
      clearing.loop,
    ],
    checks: { database: () => db.ping() },
    onConfig: lockConfig.refresh,
    start: async () => {
      const { created, generatedPassword } = await bootstrapManager(deps, {
        adminPassword: config.BATON_ADMIN_PASSWORD,
      });
      if (created) infra.log.info({ username: bootstrapAdminName }, 'administrator created');
      if (generatedPassword) printOnce(generatedPassword);
    },
    stop: async () => {
      await clearing.stop();
      await activity.flush();
    },
  };
}

/** What is asked of the tables, whoever owns them. */
const tableParts = (deps: Parameters<typeof reopenAbandonedTenants>[0], log: Infra['log']) => [
  createSnapshotPart({ db: deps.db, schema: 'identity', tables: snapshotTables, log }),
  createDoctorPart({ db: deps.db, log, checks: doctorChecks(() => reopenAbandonedTenants(deps)) }),
];

/** To the terminal, not to the log: logs are kept and shipped. */
function printOnce(password: Secret): void {
  process.stdout.write(`\nPassword of ${bootstrapAdminName} (shown this once): ${password.expose()}\n\n`);
}

async function databaseNowMs(db: Db<Tables>): Promise<number> {
  const { rows } = await db.pool.query('select (extract(epoch from app_now()) * 1000)::float8 as ms');
  return rows[0].ms;
}
