import { configChanged } from '@baton/contracts';
import { addressRule, chooseWire } from '@baton/http';
import { createImportPart } from '@baton/import-part';
import type { Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { type Infra, requireDb, type ServiceParts, subscriptionPart } from '@baton/service-runtime';
import { createDoctorPart, createSnapshotPart } from '@baton/snapshot-part';
import { createWorkloadTokens } from './accounts/adapters/workload-tokens';
import { accountsHttp } from './accounts/http/accounts.routes';
import { createActivity } from './adapters/activity';
import { createAuthorizationCache } from './adapters/authorization-cache';
import { createLockConfig } from './adapters/lock-config';
import { createOldPasswords } from './adapters/old-passwords';
import { createPasswords, type Passwords } from './adapters/passwords';
import { createTenantParts, type TenantParts } from './adapters/tenant-parts';
import { createTenantUsage } from './adapters/tenant-usage';
import { type Bootstrapped, bootstrapAdminName, bootstrapManager } from './commands/bootstrap';
import { reopenAbandonedTenants } from './commands/delete-tenant';
import { createSignInCode as createCode, purgeSessions } from './commands/sessions';
import { purgeExpiredTokens } from './commands/tokens';
import type { Config } from './config';
import { purgeDeviceLogins } from './devices/commands/purge-logins';
import { createCodeHash } from './devices/domain/user-code';
import { deviceLoginHttp } from './devices/http/device-login.routes';
import { configuredLimits } from './domain/quota';
import { cloudifyWire } from './http/cloudify/wire-policy';
import { ownUserHttp } from './http/own-user.routes';
import { permissionsHttp } from './http/permissions.routes';
import { sessionHttp } from './http/session.routes';
import { tenantsHttp } from './http/tenants.routes';
import { tokensHttp } from './http/tokens.routes';
import { userGroupsHttp } from './http/user-groups.routes';
import { userAccessHttp, usersHttp } from './http/users.routes';
import { specWire } from './http/wire-policy';
import { createImportTables, createStageSealer, type ImportDeps } from './imports/import-tables';
import { clearTenants } from './loops/clear-tenants.loop';
import { createDirectory } from './providers/adapters/directory';
import { createDirectoryProbe } from './providers/adapters/directory-probe';
import { createLdapPool } from './providers/adapters/ldap-pool';
import { createOidcClient } from './providers/adapters/oidc-client';
import { createProviderFetch } from './providers/adapters/provider-fetch';
import { createDirectoryLogins } from './providers/commands/directory-logins';
import { recheckUser } from './providers/commands/recheck';
import { createSealer, type Sealer } from './providers/domain/sealed-text';
import { loginHttp } from './providers/http/login.routes';
import { providersHttp } from './providers/http/providers.routes';
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
 * Creates roles, permissions, default_tenant and `admin` where they are missing. For callers that keep the generated password
 * themselves (standalone). The service does the same when it starts.
 */
export async function bootstrap(
  db: Db<Tables>,
  options: { adminPassword?: Secret } = {},
): Promise<Bootstrapped> {
  return bootstrapManager({ db, passwords: createPasswords() }, options);
}

/**
 * Returns a code that signs the administrator in by `/ui/#code=<code>`, once, within 15 minutes; null when the account is inactive.
 * For the process that starts the manager (standalone): no request can ask for a code.
 */
export async function createSignInCode(db: Db<Tables>): Promise<Secret | null> {
  return createCode({ db });
}

/**
 * Builds the service. `tenantParts`: access to the contents of a tenant in other services; a tenant with contents is not deleted.
 */
export function buildService(
  config: Config,
  infra: Infra,
  ports: { tenantParts?: TenantParts } = {},
): ServiceParts {
  const db = requireDb<Tables>(infra);
  const sealer = createSealer(config.BATON_INTERNAL_KEY);
  const oldPasswords = createOldPasswords(sealer);
  const passwords = createPasswords({ old: oldPasswords });
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
    oldPasswords,
    ...providersOf(config, infra, { db, passwords, sealer }),
    cacheMs: config.BATON_CREDENTIAL_CACHE_MS,
    sessionLifeMs: config.BATON_SESSION_LIFE,
    sessionIdleMs: config.BATON_SESSION_IDLE,
    codeHash: createCodeHash(config.BATON_INTERNAL_KEY),
    deviceTokenLifeMs: config.BATON_DEVICE_TOKEN_LIFE,
    nowMs: () => databaseNowMs(db),
    tenantParts: ports.tenantParts ?? createTenantParts(infra.rpc),
    defaultLimits: configuredLimits(config),
    usageOf: createTenantUsage(infra),
  };
  const clearing = clearTenants({ db, tenantParts: deps.tenantParts, log: infra.log });
  return {
    name: 'identity',
    routes: routesOf(deps, () => void clearing.work()),
    rpc: [identityRpcPart(deps), ...tableParts(deps, infra.log)],
    consumers: [],
    subscriptions: [subscriptionPart(configChanged, () => lockConfig.refresh())],
    loops: [
      { name: 'write-activity', intervalMs: ACTIVITY_MS, tickOnce: () => activity.flush() },
      { name: 'purge-tokens', intervalMs: 10 * MINUTE_MS, tickOnce: () => purgeExpiredTokens(deps) },
      { name: 'purge-sessions', intervalMs: 10 * MINUTE_MS, tickOnce: () => purgeSessions(deps) },
      { name: 'purge-device-logins', intervalMs: MINUTE_MS, tickOnce: () => purgeDeviceLogins(deps) },
      { name: 'reopen-tenants', intervalMs: MINUTE_MS, tickOnce: () => reopenAbandonedTenants(deps) },
      clearing.loop,
    ],
    checks: { database: () => db.ping() },
    onConfig: lockConfig.refresh,
    start: () => makeAdmin(deps, config.BATON_ADMIN_PASSWORD, infra.log),
    stop: async () => {
      deps.closeDirectories();
      await clearing.stop();
      await activity.flush();
    },
  };
}

type RouteDeps = Parameters<typeof usersHttp>[0] &
  Omit<Parameters<typeof tenantsHttp>[0], 'kickClearing'> &
  Parameters<typeof tokensHttp>[0] &
  Parameters<typeof sessionHttp>[0] &
  Parameters<typeof providersHttp>[0] &
  Parameters<typeof loginHttp>[0] &
  Parameters<typeof deviceLoginHttp>[0] &
  Parameters<typeof accountsHttp>[0];

const routesOf = (deps: RouteDeps, kickClearing: () => void): ServiceParts['routes'] => [
  ...usersHttp(deps),
  ...userAccessHttp(deps),
  ...tenantsHttp({ ...deps, kickClearing }),
  ...userGroupsHttp(deps),
  ...tokensHttp(deps),
  ...sessionHttp(deps),
  ...providersHttp(deps),
  ...loginHttp(deps),
  ...deviceLoginHttp(deps),
  ...accountsHttp(deps),
  ...ownUserHttp(deps),
  ...permissionsHttp(deps),
];

/** Access to identity providers, and the check of their users. */
function providersOf(
  config: Config,
  { clock, log }: Infra,
  { db, passwords, sealer }: { db: Db<Tables>; passwords: Passwords; sealer: Sealer },
) {
  const rules = { isAllowed: addressRule(config.BATON_LOGIN_PROVIDER_ALLOW) };
  const fetch = createProviderFetch(rules);
  const oidc = createOidcClient({ fetch, sealer, clock });
  const pool = createLdapPool({ rules, sealer, clock });
  const directory = createDirectory(pool);
  return {
    sealer,
    oidc,
    probe: createDirectoryProbe(pool),
    workloads: createWorkloadTokens({ fetch, clock }),
    directories: createDirectoryLogins({ db, passwords, directory, clock, log }),
    recheckUser: (userId: number) => recheckUser({ db, oidc, directory, sealer, log }, userId),
    closeDirectories: pool.close,
  };
}

/** Parts that go over the tables as a whole: snapshots, imports and the doctor. */
const tableParts = (
  deps: Parameters<typeof reopenAbandonedTenants>[0] & ImportDeps & { sealer: Sealer },
  log: Infra['log'],
) => [
  createImportPart({
    db: deps.db,
    tables: createImportTables(deps),
    sealer: createStageSealer(deps.sealer),
    log,
  }),
  createSnapshotPart({ db: deps.db, schema: 'identity', tables: snapshotTables, log }),
  createDoctorPart({ db: deps.db, log, checks: doctorChecks(() => reopenAbandonedTenants(deps)) }),
];

async function makeAdmin(
  deps: Parameters<typeof bootstrapManager>[0],
  adminPassword: Secret | undefined,
  log: Infra['log'],
): Promise<void> {
  const { created, generatedPassword } = await bootstrapManager(deps, { adminPassword });
  if (created) log.info({ username: bootstrapAdminName }, 'administrator created');
  if (generatedPassword) printOnce(generatedPassword);
}

/** Prints the password to the terminal and not to the log, because logs are stored and shipped. */
function printOnce(password: Secret): void {
  process.stdout.write(`\nPassword of ${bootstrapAdminName} (shown this once): ${password.expose()}\n\n`);
}

async function databaseNowMs(db: Db<Tables>): Promise<number> {
  const { rows } = await db.pool.query('select (extract(epoch from app_now()) * 1000)::float8 as ms');
  return rows[0].ms;
}
