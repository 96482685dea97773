// Starts one host, says where it is, and waits to be killed: rig.int.test.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startHosts } from '.';

const RECORDS = '/run/baton-hosts';

void startHosts(1).then(({ hosts }) => {
  const record = readdirSync(RECORDS)
    .map((name) => join(RECORDS, name))
    .find((path) => readFileSync(path, 'utf8').startsWith(`${process.pid} `))!;
  const number = record.split('/').at(-1);
  const folder = readFileSync(record, 'utf8').split('\n')[1];
  const said = { namespace: `bh${number}-1`, folder, record, address: hosts[0]!.address };
  process.stdout.write(`${JSON.stringify(said)}\n`);
  setInterval(() => undefined, 60_000);
});
