import { chownSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@baton/testkit';
import type { Rig } from '../testing/memory-host';
import { warmRig } from '../testing/warm-rig';

const isBubblewrap = existsSync('/usr/bin/bwrap') && process.getuid?.() === 0;
const MODES = isBubblewrap ? (['none', 'bubblewrap'] as const) : (['none'] as const);

/** `keep` leaves what it knows wherever code of a plugin can; `look` tells what an operation finds of it. */
const PLUGIN = `
import glob, os, signal, time
from cloudify import ctx

kept = []

def keep(ctx, mark, wait=False, **_):
    kept.append(mark)
    os.environ['MARK'] = mark
    places = [os.environ['TMPDIR'], '/tmp', '.', ctx.local_deployment_workdir()]
    for place in places:
        with open(os.path.join(place, mark), 'w') as out:
            out.write(os.environ['CTX_SOCKET_URL'])
    print('kept %d' % os.getppid(), flush=True)
    if wait:
        time.sleep(300)
    return who()

def look(ctx, marks, servers=(), **_):
    found = [mark for mark in marks if mark in kept or os.environ.get('MARK') == mark]
    for place in [os.environ['TMPDIR'], '/tmp', '.'] + glob.glob('/tmp/*') + glob.glob('/proc/[0-9]*/cwd'):
        try:
            names = os.listdir(place)
        except OSError:
            continue
        found += ['%s in %s' % (mark, place) for mark in marks if mark in names]
    for folder in glob.glob('/proc/[0-9]*'):
        try:
            with open(folder + '/environ', 'rb') as text:
                found += ['%s in %s' % (mark, folder) for mark in marks if mark.encode() in text.read()]
        except OSError:
            pass
    for server in servers:
        try:
            os.kill(server, 0)
            found.append('may signal %d' % server)
        except OSError:
            pass
    return dict(who(), found=found, deployment=sorted(os.listdir(ctx.local_deployment_workdir())))

def who():
    return {'uid': os.getuid(), 'server': os.getppid(), 'mounts': os.stat('/proc/self/ns/mnt').st_ino}
`;

interface Seen {
  uid: number;
  server: number;
  mounts: number;
  found: string[];
  deployment: string[];
}

describe.each(MODES)('warm Python of two tenants with one plugin and equal ids, isolation %s', (mode) => {
  let rig: Rig & { prefix: string };
  beforeEach(() => {
    rig = warmRig({ mine: PLUGIN }, { mode });
    const place = async (): Promise<string> => {
      const { tenant } = rig.task;
      const folder = join(rig.deps.scripts.workRoot, 'copies', tenant);
      mkdirSync(folder, { recursive: true, mode: 0o711 });
      const dep = join(folder, 'dep');
      mkdirSync(dep, { recursive: true, mode: 0o700 });
      const account = rig.deps.scripts.isolation.accountOf(tenant);
      if (account) chownSync(dep, account.uid, account.gid);
      return dep;
    };
    rig.host.deploymentPlace = place;
    rig.host.deploymentDir = place;
  });
  afterEach(async () => await rig.deps.warm?.close());

  const result = async (tenant: string, name: 'keep' | 'look', inputs: object): Promise<Seen> => {
    const end = await rig.run({ tenant, mapping: `mine.${name}`, inputs: inputs as never });
    expect(end).toMatchObject({ kind: 'succeeded' });
    return (end as unknown as { result: Seen }).result;
  };

  it('an operation finds nothing that one of the other tenant left, neither in memory nor in files', async () => {
    const first = await result('red', 'keep', { mark: 'mark-of-red' });
    const second = await result('blue', 'look', { marks: ['mark-of-red'] });
    // Without isolation /tmp is that of the machine.
    expect(second.found.filter((place) => mode !== 'none' || !place.endsWith(' in /tmp'))).toEqual([]);
    expect(second.deployment).toEqual([]);
    if (mode === 'none') expect(second.server).not.toBe(first.server);
    else expect([second.uid, second.mounts]).not.toEqual([first.uid, first.mounts]);
    // Each tenant comes back to its own server and its own files.
    const again = await result('red', 'look', { marks: ['mark-of-blue'] });
    expect(again).toMatchObject({ uid: first.uid, server: first.server, mounts: first.mounts });
    expect(again.deployment).toEqual(['mark-of-red']);
  });

  it('an operation neither sees nor stops a running one of the other tenant', async () => {
    const stop = new AbortController();
    const waiting = rig.run(
      { tenant: 'red', mapping: 'mine.keep', inputs: { mark: 'mark-of-red', wait: true } },
      stop.signal,
    );
    await eventually(() => expect(rig.host.logged().join()).toMatch(/kept \d+/));
    const server = Number(/kept (\d+)/.exec(rig.host.logged().join())?.[1]);
    const seen = await result('blue', 'look', { marks: ['mark-of-red'], servers: [server, server + 1] });
    if (mode === 'bubblewrap') {
      // Each has processes 1 and 2 of its own: what it may signal are its own.
      const own = [`may signal ${seen.server}`, `may signal ${seen.server + 1}`];
      expect(seen.found.filter((what) => !own.includes(what))).toEqual([]);
    }
    stop.abort('cancelled');
    expect(await waiting).toEqual({ kind: 'stopped', reason: 'cancelled' });
    // The stop of one tenant has cost the other one nothing.
    expect((await result('blue', 'look', { marks: ['mark-of-red'] })).server).toBe(seen.server);
  }, 30_000);

  it('a plugin that is refused to one tenant stays warm for the other', async () => {
    const blue = await result('blue', 'look', { marks: [] });
    const { deploymentId } = rig.task;
    rig.deps.warm?.refuse({ tenant: 'red', deploymentId, prefix: rig.prefix, folders: [], module: 'mine' });
    const red = await result('red', 'look', { marks: [] });
    if (mode === 'none') expect(red.server).toBe(process.pid);
    expect((await result('blue', 'look', { marks: [] })).mounts).toBe(blue.mounts);
  });
});
