// All workers share one working folder of a deployment, on whatever machine they are (reference/workflows.md 4.2).
import { appendFileSync } from 'node:fs';
import { executionsRpc, type OperationAssignment } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { createWorkerRig, type WorkerRig } from '../testing/worker-rig';

const { OutcomeKind } = executionsRpc;
const FOLDER = 'deployments/default_tenant/dep';
const bash = (text: string): Partial<OperationAssignment> => ({
  inputs: { script_source: `#!/bin/bash\nset -e\n${text}` },
});
const IN = 'cd $(ctx local-deployment-workdir)';

let rig: WorkerRig;
beforeEach(async () => {
  rig = await createWorkerRig();
});
afterEach(() => rig.close());

const printed = (): string[] =>
  rig.peer.events
    .map((e) => e.message)
    .filter((t) => t.startsWith('<out> '))
    .map((t) => t.slice(6));

/** Starts a worker with its own disk; returns a function that runs operations on it. */
async function machine() {
  const worker = await rig.startWorker({ BATON_WORKER_ISOLATION: 'auto' });
  const run = async (text: string): Promise<executionsRpc.TaskOutcome> => {
    const task = rig.peer.addTask(bash(text));
    await rig.wake(task);
    await eventually(() => task.outcomes.length > 0, { deadlineMs: 15_000 });
    return task.outcomes[0]!;
  };
  return Object.assign(run, { stop: worker.stop });
}

it('what an operation writes, changes and removes, the next one finds on another machine', async () => {
  const big = 3_000_000;
  const { folders } = rig.peer;
  const first = await machine();
  await first(
    `${IN}; mkdir -p a/b; echo one > a/b/x; head -c ${big} /dev/urandom > big; md5sum < big; echo go > run.sh; chmod 755 run.sh; echo gone > g`,
  );
  expect(Object.keys(folders.texts(FOLDER)).sort()).toEqual(['a/b/x', 'big', 'g', 'run.sh']);
  await first.stop();
  const second = await machine();
  await second(`${IN}; md5sum < big; cat a/b/x; stat -c '%a %s' run.sh big; rm g; echo two > a/b/x`);
  const [before, after, ...rest] = printed();
  expect(after).toBe(before);
  expect(rest).toEqual(['one', '755 3', `644 ${big}`]);
  expect(folders.texts(FOLDER)).toMatchObject({ 'a/b/x': 'two\n', 'run.sh': 'go\n' });
  expect(folders.texts(FOLDER)).not.toHaveProperty('g');
});

it('names that differ only in letter case are two files on every machine', async () => {
  const first = await machine();
  await first(
    `${IN}; mkdir logo Logo; echo small > logo/x; echo large > Logo/X; echo low > read; echo high > READ`,
  );
  await first.stop();
  const second = await machine();
  await second(`${IN}; cat logo/x Logo/X read READ`);
  expect(printed()).toEqual(['small', 'large', 'low', 'high']);
});

it('only what has changed is carried; what others changed or removed meanwhile arrives', async () => {
  const run = await machine();
  await run(`${IN}; echo a > a; echo b > b; echo c > c`);
  const { folders } = rig.peer;
  folders.put(FOLDER, 'a', 'from elsewhere\n', Date.parse('2100-01-01') * 1000);
  folders.remove(FOLDER, 'b');
  folders.put(FOLDER, 'sub/d', 'new\n');
  const end = await run(`${IN}; cat a sub/d; ls`);
  expect(end.kind).toBe(OutcomeKind.OUTCOME_KIND_SUCCEEDED);
  expect(printed()).toEqual(['from elsewhere', 'new', 'a', 'c', 'sub']);
  expect(folders.reads.sort()).toEqual(['a', 'sub/d']);
  expect(folders.texts(FOLDER)).toEqual({ a: 'from elsewhere\n', c: 'c\n', 'sub/d': 'new\n' });
});

it('a resource is read from the folder first, then the blueprint, then the files of the tenant and of everybody', async () => {
  const { folders, files } = rig.peer;
  files['bp/one'] = 'blueprint';
  files['bp/two'] = 'blueprint';
  folders.put(FOLDER, 'one', 'deployment');
  folders.put('tenant-resources/default_tenant/', 'x/y', 'tenant');
  folders.put('tenant-resources/other/', 'x/y', 'not ours');
  folders.put('global-resources//', 'z', 'global');
  const run = await machine();
  await run(
    'for r in one two tenant-resources/default_tenant/x/y global-resources/z; do ctx get-resource $r; echo; done',
  );
  expect(printed()).toEqual(['deployment', 'blueprint', 'tenant', 'global']);
  folders.put(FOLDER, 'two', 'deployment');
  await run('ctx get-resource two; echo; ctx get-resource tenant-resources/other/x/y || echo none');
  expect(printed().slice(4, 5)).toEqual(['deployment']);
  expect(printed().join()).not.toContain('not ours');
});

it('a whole folder comes from the first of these places that has it', async () => {
  const { folders, files } = rig.peer;
  Object.assign(files, {
    'bp/conf/a': 'blueprint a',
    'bp/conf/in/b': 'blueprint b',
    'bp/configs': 'another',
  });
  folders.put('tenant-resources/default_tenant/', 'shared/x', 'tenant');
  const show = (path: string, open = ':') =>
    `${open}; d=$(ctx download-directory ${path}) || { echo none; exit 0; }; cd $d; for f in $(find . -type f | sort); do echo "$f $(cat $f)"; done`;
  const run = await machine();
  for (const path of ['conf/', 'tenant-resources/default_tenant/shared', 'nowhere', '../conf'])
    await run(show(path));
  folders.put(FOLDER, 'conf/c', 'deployment');
  await run(show('conf'));
  await run(show('conf', `(${IN}; echo written > conf/d; ln -s /etc conf/etc)`));
  const ofBlueprint = ['./a blueprint a', './in/b blueprint b'];
  const ofDeployment = ['./c deployment', './c deployment', './d written'];
  expect(printed()).toEqual([...ofBlueprint, './x tenant', 'none', 'none', ...ofDeployment]);
});

it('links lead nowhere: neither up nor down nor out', async () => {
  const { folders } = rig.peer;
  const run = await machine();
  await run(
    `${IN}; ln -s /etc/hostname host; mkdir real; ln -s /etc etc; echo x > real/x; ctx get-resource host && exit 3 || true`,
  );
  expect(Object.keys(folders.texts(FOLDER))).toEqual(['real/x']);
  folders.put(FOLDER, 'etc/placed', 'x');
  const end = await run(`${IN}; ls /etc/placed || echo nothing`);
  expect(end.kind).toBe(OutcomeKind.OUTCOME_KIND_SUCCEEDED);
  expect(printed()).toContain('nothing');
});

it('an operation whose files cannot be stored has not succeeded', async () => {
  rig.peer.folders.limits.maxBytes = 1_000;
  const run = await machine();
  const large = await run(`${IN}; head -c 2000 /dev/zero > x`);
  expect(large.kind).toBe(OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE);
  expect(large.errorJson).toContain('at most 100 files of 1000 bytes');
  rig.peer.folders.limits.maxBytes = 1_000_000;
  let fails = 1;
  rig.peer.before = (method) => {
    if (method === 'changeFolder' && fails-- > 0) throw new AppError('conflict_error', 'not now');
  };
  const refused = await run(`${IN}; echo y > y`);
  expect(refused.kind).toBe(OutcomeKind.OUTCOME_KIND_FAILED_RECOVERABLE);
  expect(refused.errorJson).toContain('not now');
  // Files that could not be stored are still there, and are stored at the end of the next operation.
  await run(`${IN}; ls`);
  expect(Object.keys(rig.peer.folders.texts(FOLDER)).sort()).toEqual(['x', 'y']);
});

it('a file whose name is not UTF-8 is not lost silently: the operation fails and says which', async () => {
  const run = await machine();
  const end = await run(`${IN}; mkdir d; echo kept > d/ok; echo x > "$(printf 'd/f\\xfcr')"`);
  expect(end.kind).toBe(OutcomeKind.OUTCOME_KIND_FAILED_NONRECOVERABLE);
  expect(JSON.parse(end.errorJson)).toMatchObject({
    message: expect.stringContaining('a file whose name is not UTF-8, d/f\\xfcr;'),
  });
  await run(`${IN}; rm "$(printf 'd/f\\xfcr')"`);
  expect(rig.peer.folders.texts(FOLDER)).toEqual({ 'd/ok': 'kept\n' });
});

it('operations that never ask for the folder cost nothing', async () => {
  const asked: string[] = [];
  rig.peer.before = (method) => void asked.push(method);
  const run = await machine();
  await run('echo hello');
  expect(asked.filter((method) => /Folder|Piece|Stored/.test(method))).toEqual([]);
});

it('a file that a program goes on writing is stored as long as it is, and holds up nobody', async () => {
  const run = await machine();
  const MIB = 1024 * 1024;
  await run(`${IN}; pwd`);
  const [folder] = printed();
  let pieces = 0;
  rig.peer.before = (method) => {
    if (method !== 'storePiece' || ++pieces > 100) return;
    appendFileSync(`${folder}/growing`, Buffer.alloc(MIB));
  };
  const { kind } = await run(`${IN}; head -c ${2 * MIB} /dev/zero > growing`);
  expect([kind, pieces]).toEqual([OutcomeKind.OUTCOME_KIND_SUCCEEDED, 2]);
  await run(`${IN}; stat -c %s growing`);
  expect(printed().at(-1)).toBe(String(4 * MIB));
});
