// npm run keys -- --dir D [--rotate SERVICE]... [--retire SERVICE]...: identity keys of the services
// (packages/trust/src/key-files.ts).
// A private file for each service (0600) and trust.json with the public keys. Rotation: the public key first, 2 s later the private
// one (where the files are copied to other machines: --stage leaves <service>.key.json.next to be put in place by hand).
// npm run keys -- --token SERVICE --to SERVICE [--dir D]: prints a token of SERVICE, valid for a minute; for grpcurl
// (packages/rpc/README.md). Without --dir the key is derived from BATON_INTERNAL_KEY.
// --out FOLDER: also writes FOLDER/<service>/key.json and trust.json, one folder per service, to be given only to that service
// (volumes of docker-compose.yml, secrets of Kubernetes).
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Secret, silentLog } from '@baton/kernel';
import {
  adoptKeys,
  derivedTrust,
  handOutKeys,
  type IdentityOwner,
  identityOwners,
  isIdentityOwner,
  keyFilesIn,
  makeKeys,
  serviceCredential,
  trustFromFiles,
} from '@baton/trust';

const READ_AGAIN_MS = 2_000;

function owners(names: readonly string[] | undefined): IdentityOwner[] {
  return (names ?? []).map((name) => {
    if (isIdentityOwner(name)) return name;
    process.stderr.write(
      `${name} is no service with an identity; expected one of: ${identityOwners.join(', ')}\n`,
    );
    process.exit(64);
  });
}

/** Returns the token; ends the process when a name is wrong or there is no key. */
function tokenOf(caller: string, to: string, dir: string | undefined): string {
  const [name, audience] = owners([caller, to]);
  const internalKey = process.env.BATON_INTERNAL_KEY;
  if (dir === undefined && !internalKey) {
    process.stderr.write('a token needs --dir with key files, or BATON_INTERNAL_KEY\n');
    process.exit(64);
  }
  const { identity } =
    dir === undefined
      ? derivedTrust(name!, new Secret(internalKey!))
      : trustFromFiles(name!, keyFilesIn(dir, name!), { log: silentLog });
  return serviceCredential(identity).tokenFor(audience!)!;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      out: { type: 'string' },
      token: { type: 'string' },
      to: { type: 'string' },
      rotate: { type: 'string', multiple: true },
      retire: { type: 'string', multiple: true },
      stage: { type: 'boolean', default: false },
    },
  });
  if (values.token !== undefined && values.to !== undefined) {
    process.stdout.write(`${tokenOf(values.token, values.to, values.dir)}\n`);
    return;
  }
  if (!values.dir) {
    process.stderr.write(
      'usage: npm run keys -- --dir FOLDER [--rotate SERVICE]... [--retire SERVICE]... [--stage] [--out FOLDER]\n' +
        '       npm run keys -- --token SERVICE --to SERVICE [--dir FOLDER]\n',
    );
    process.exit(64);
  }
  const { made, pending } = makeKeys(values.dir, {
    rotate: owners(values.rotate),
    retire: owners(values.retire),
  });
  // Public keys first: no process may meet a key that is not known yet.
  if (values.out) handOutKeys(values.dir, values.out, 'public');
  if (!values.stage && pending.length > 0) {
    await delay(READ_AGAIN_MS);
    adoptKeys(pending);
  }
  if (values.out) handOutKeys(values.dir, values.out, 'private');
  process.stdout.write(
    `${values.dir}: ${made.length === 0 ? 'nothing new' : `new keys of ${made.join(', ')}`}\n`,
  );
}

void main();
