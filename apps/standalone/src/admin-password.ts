import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { bootstrap } from '@baton/identity';
import { isAppError, Secret } from '@baton/kernel';
import { createDb } from '@baton/postgres';
import { createLogger, type Transport } from '@baton/service-runtime';
import type { StandaloneConfig } from './config';
import type { Home } from './home';
import { StartRefused } from './refusal';

/**
 * Makes the administrator at first start. A generated password is kept in the home, so that a person who lost the first
 * lines of the terminal still finds it.
 */
export async function ensureAdmin(
  config: StandaloneConfig,
  home: Home,
  databaseUrl: string,
  transport: Transport,
): Promise<{ adminPassword: Secret | null; isPasswordNew: boolean }> {
  const log = createLogger({ service: 'standalone', level: config.BATON_LOG_LEVEL });
  const db = createDb<never>({
    url: databaseUrl,
    trust: transport.servers,
    schema: 'identity',
    maxConnections: 1,
    applicationName: 'baton-bootstrap',
    log,
  });
  try {
    const given = config.BATON_ADMIN_PASSWORD;
    const { generatedPassword } = await bootstrap(db as never, { adminPassword: given }).catch(refuse);
    if (generatedPassword) {
      writeFileSync(home.adminPasswordFile, `${generatedPassword.expose()}\n`, { mode: 0o600 });
      return { adminPassword: generatedPassword, isPasswordNew: true };
    }
    if (given) return { adminPassword: given, isPasswordNew: false };
    if (!existsSync(home.adminPasswordFile)) return { adminPassword: null, isPasswordNew: false };
    return {
      adminPassword: new Secret(readFileSync(home.adminPasswordFile, 'utf8').trim()),
      isPasswordNew: false,
    };
  } finally {
    await db.close();
  }
}

/** @throws StartRefused when the given password is none; the text does not contain it. */
function refuse(error: unknown): never {
  if (isAppError(error) && error.code === 'bad_parameters_error')
    throw new StartRefused(`BATON_ADMIN_PASSWORD: ${error.message}.`, 78, { cause: error });
  throw error;
}
