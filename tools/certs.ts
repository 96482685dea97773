/**
 * `npm run certs -- --dir D [--days N] [--host NAME]... [--containers]`: creates a development authority, and a certificate for
 * each service, each server and the users' side of the gateway. A repeated run keeps the authority and renews all certificates;
 * running services notice this within ten seconds. With --containers (as root) the files belong to the users of the containers.
 * Folders contain `ca.crt`, `tls.crt`, `tls.key`, the names that cert-manager uses.
 */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { managerServices } from '../packages/contracts/src/route';
import { systemClock } from '../packages/kernel/src/index';
import { createAuthority, openAuthority, writeIssued } from '../packages/tls/src/authority';

const SERVICES = [...managerServices, 'worker', 'migrate'];
const SERVERS = ['postgres', 'rabbitmq', 'redis'];
/** User ids of our images, and of the servers' official images on Debian. */
const OWNERS = { services: 10001, servers: 999 };
const LOCAL = ['localhost', '127.0.0.1'];
const usage =
  'usage: npm run certs -- --dir <folder> [--days <1-825>] [--host <name of the gateway>]... [--containers]';

function fail(message: string): never {
  process.stderr.write(`certs: ${message}\n${usage}\n`);
  process.exit(64);
}

function options() {
  try {
    const { values } = parseArgs({
      options: {
        dir: { type: 'string' },
        days: { type: 'string', default: '90' },
        containers: { type: 'boolean', default: false },
        host: { type: 'string', multiple: true, default: [] },
      },
    });
    const days = Number(values.days);
    if (!values.dir) fail('--dir is missing');
    if (!Number.isInteger(days) || days < 1 || days > 825) fail('--days must be a number from 1 to 825');
    if (values.containers && process.getuid?.() !== 0)
      fail('--containers gives files to other users: run it as root');
    return { dir: values.dir, days, hosts: values.host, isForContainers: values.containers };
  } catch (error) {
    return fail((error as Error).message);
  }
}

/** Returns the authority of `dir`, and creates it if there is none. Only the owner can read its key, which is in no mount. */
async function authorityIn(dir: string, nowMs: number) {
  const files = { cert: join(dir, 'authority.crt'), key: join(dir, 'authority.key') };
  if (existsSync(files.key))
    return await openAuthority({
      cert: readFileSync(files.cert, 'utf8'),
      key: readFileSync(files.key, 'utf8'),
    });
  const made = await createAuthority('Baton development', nowMs);
  writeFileSync(files.cert, made.cert);
  // Written last: if it exists, everything exists. After an earlier crash the next run replaces the certificate.
  writeFileSync(files.key, made.key, { mode: 0o600 });
  return made;
}

async function main(): Promise<void> {
  const { dir, days, hosts, isForContainers } = options();
  const nowMs = systemClock.now();
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  const authority = await authorityIn(dir, nowMs);
  const write = async (folder: string, names: string[], owner = OWNERS.services): Promise<void> => {
    const issued = await authority.issue({ names, days, nowMs });
    const files = writeIssued(join(dir, folder), issued, authority.cert);
    if (isForContainers) for (const file of Object.values(files)) chownSync(file, owner, owner);
  };
  for (const name of SERVICES) await write(name, [name, `${name}.baton.svc`, ...LOCAL]);
  for (const name of SERVERS) await write(name, [name, `${name}.baton.svc`, ...LOCAL], OWNERS.servers);
  await write('edge', [...hosts, ...LOCAL, 'gateway']);
  process.stdout.write(
    `certs: ${SERVICES.length + SERVERS.length + 1} certificates for ${days} days below ${dir}; trust ${join(dir, 'authority.crt')}\n`,
  );
}

main().catch((error: unknown) => {
  process.stderr.write(`certs: ${(error as Error).message}\n`);
  process.exit(1);
});
