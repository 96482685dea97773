// npm run keys -- --dir D [--rotate SERVICE]... [--retire SERVICE]...: identity keys of the services (packages/trust/src/key-files.ts).
// A private file for each service (0600) and trust.json with the public keys. Rotation: the public key first, 2 s later the private one
// (where the files are copied to other machines: --stage leaves <service>.key.json.next to be put in place by hand).
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  adoptKeys,
  type IdentityOwner,
  identityOwners,
  isIdentityOwner,
  makeKeys,
} from '../packages/trust/src';

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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      rotate: { type: 'string', multiple: true },
      retire: { type: 'string', multiple: true },
      stage: { type: 'boolean', default: false },
    },
  });
  if (!values.dir) {
    process.stderr.write(
      'usage: npm run keys -- --dir FOLDER [--rotate SERVICE]... [--retire SERVICE]... [--stage]\n',
    );
    process.exit(64);
  }
  const { made, pending } = makeKeys(values.dir, {
    rotate: owners(values.rotate),
    retire: owners(values.retire),
  });
  if (!values.stage && pending.length > 0) {
    await delay(READ_AGAIN_MS);
    adoptKeys(pending);
  }
  process.stdout.write(
    `${values.dir}: ${made.length === 0 ? 'nothing new' : `new keys of ${made.join(', ')}`}\n`,
  );
}

void main();
