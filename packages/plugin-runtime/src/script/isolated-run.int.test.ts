import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseIsolation } from '@baton/isolation';
import { makeRig, type Rig } from '../testing/memory-host';

/** A rig whose operations run in the strongest isolation of this machine. */
function isolatedRig(fileBytes = 50_000_000): Rig {
  const rig = makeRig();
  const { scripts } = rig.deps;
  chmodSync(rig.host.root, 0o711);
  const { isolation } = chooseIsolation({
    mode: 'auto',
    workRoot: scripts.workRoot,
    assetsDir: scripts.assetsDir,
    // Not the uids of workers: a worker of another suite on this machine would restrict their network.
    uids: { first: 340_000, last: 340_100 },
    account: null,
    limits: { processes: 200, openFiles: 256, fileBytes, memoryBytes: null },
    shared: [],
    hidden: [],
    path: process.env.PATH ?? '',
  });
  scripts.isolation = isolation;
  return rig;
}

test('a script has ctx, files where it wants them, its own /tmp and nothing of the worker', async () => {
  const rig = isolatedRig();
  rig.host.files = { 'plain.txt': 'of the blueprint' };
  const end = await rig.script(`#!/bin/bash
ctx download-resource plain.txt '@{"target_path": "/tmp/deep/x"}' > /dev/null
cat /tmp/deep/x
cat "$(ctx download-resource plain.txt)"
ctx returns "$(ctx instance id)"`);
  expect(end).toEqual({ kind: 'succeeded', result: 'web_abc123' });
  const said = rig.host.logged().filter((line) => line.startsWith('<out> '));
  expect(said.join('')).toContain('of the blueprintof the blueprint');
  expect(existsSync('/tmp/deep')).toBe(false);
});

test('neither a target nor a file:// address reaches what only the worker may', async () => {
  const rig = isolatedRig();
  const secret = join(rig.host.root, 'of-the-worker');
  writeFileSync(secret, '#!/bin/sh\necho leaked\n', { mode: 0o600 });
  rig.host.files = { 'plain.txt': 'written' };
  // The control: the same without isolation.
  const open = makeRig();
  expect(await open.run({ inputs: { script_path: `file://${secret}` } })).toMatchObject({
    kind: 'succeeded',
  });
  expect(open.host.logged()).toEqual(['<out> leaked']);
  expect(await rig.run({ inputs: { script_path: `file://${secret}` } })).toMatchObject({
    failure: { message: `Failed reading script: file://${secret}` },
  });
  const target = join(rig.host.root, 'new/written-by-ctx');
  const write = `#!/bin/bash\nctx download-resource plain.txt '@{"target_path": "${target}"}'`;
  open.host.files = rig.host.files;
  await open.script(write);
  expect(readFileSync(target, 'utf8')).toBe('written');
  rmSync(target);
  await rig.script(write);
  expect(existsSync(target)).toBe(false);
});

test('an operation whose files take too much is stopped and says why', async () => {
  const rig = isolatedRig(5_000_000);
  const end = await rig.script(
    '#!/bin/bash\nfor i in 1 2 3; do head -c 4000000 /dev/zero > "$TMPDIR/$i"; done; sleep 30',
  );
  expect(end).toMatchObject({
    kind: 'failed',
    isRecoverable: true,
    failure: {
      message: expect.stringMatching(/take \d+ bytes .* at most 5000000 .*BATON_WORKER_LIMIT_DISK/),
    },
  });
}, 20_000);
