import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeRig, type Rig } from '../testing/memory-host';
import { installPlugin } from './install-plugin';

const TASKS = `
from cloudify import ctx
from cloudify.decorators import operation
from cloudify.exceptions import NonRecoverableError
from cloudify.workflows import ctx as workflow

@operation
def create(ctx, port, **inputs):
    print('printed')
    ctx.instance.runtime_properties['port'] = port
    return {'inputs': inputs, 'plugin': [ctx.plugin.name, ctx.plugin.prefix, ctx.plugin.properties]}

@operation(resumable=True)
def patient(**_):
    if ctx.operation.retry_number == 0:
        return ctx.operation.retry('later', 3)

def broken(**_):
    raise NonRecoverableError('no')

def library(**_):
    """What a wagon brings of the manager's library: modules that the worker has not, and its REST client."""
    from datetime import datetime
    import cloudify_rest_client
    from cloudify.extra import instance_id
    from cloudify.workflows.local import init_env
    client = cloudify_rest_client
    return [instance_id, init_env, client.PY2, str(client.at('2024-01-31 08:00', 'Asia/Tokyo')),
            str(client.later('1 month', datetime(2024, 1, 31))), client.build('a.b', target_deployment='t', id=None),
            client.create('a.b', 'from', external_target='')]

nothing = 5
`;
const LIBRARY = {
  'cloudify/__init__.py': 'raise ImportError("that of the worker is meant")',
  'cloudify/extra.py': 'from cloudify import ctx\ninstance_id = ctx.instance.id',
  'cloudify/workflows/__init__.py': 'raise ImportError("that of the worker is meant")',
  'cloudify/workflows/local.py': 'init_env = "theirs"',
  'cloudify_rest_client/__init__.py': `
from cloudify._compat import PY2, text_type, urlparse
from cloudify.deployment_dependencies import build_deployment_dependency as build, create_deployment_dependency as create
from cloudify.proxy.server import HTTPCtxProxy, StubCtxProxy, TCPCtxProxy, UnixCtxProxy
from cloudify.utils import ipv6_url_compat, parse_and_apply_timedelta as later, parse_utc_datetime as at
`,
};
const MAKE_WAGON = `
import io, json, sys, tarfile, zipfile
place, tag, tasks, library = sys.argv[1:]
wheel = io.BytesIO()
with zipfile.ZipFile(wheel, 'w') as packed:
    packed.writestr('mine/__init__.py', '')
    packed.writestr('mine/tasks.py', tasks)
    for name, content in json.loads(library).items():
        packed.writestr(name, content)
    packed.writestr('mine-1.0.data/scripts/mine-script', '#!python\\nprint(1)\\n')
    packed.writestr('mine-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: mine\\nVersion: 1.0\\n')
    packed.writestr('mine-1.0.dist-info/entry_points.txt', '[console_scripts]\\nmine-command = mine.tasks:create\\n')
with tarfile.open(place, 'w:gz') as wagon:
    for name, content in (('mine/package.json', b'{}'), ('mine/wheels/mine-1.0-%s.whl' % tag, wheel.getvalue())):
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        wagon.addfile(entry, io.BytesIO(content))
`;

/** A wagon with one wheel, and the target of its installation. */
function wagonFor(rig: Rig, tag = 'py3-none-any') {
  const path = join(rig.host.root, 'mine.wgn');
  execFileSync('python3', ['-c', MAKE_WAGON, path, tag, TASKS, JSON.stringify(LIBRARY)]);
  return {
    tenant: 'default_tenant',
    kind: 'wagon' as const,
    path,
    target: join(rig.host.root, 'plugins/mine'),
    pipArguments: '',
  };
}

/** A wagon with one wheel of any content. */
function oneWheel(name: string, content: Buffer): Buffer {
  const make = `
import io, sys, tarfile
with tarfile.open(fileobj=sys.stdout.buffer, mode='w|gz') as wagon:
    content = sys.stdin.buffer.read()
    entry = tarfile.TarInfo('mine/wheels/' + sys.argv[1])
    entry.size = len(content)
    wagon.addfile(entry, io.BytesIO(content))
`;
  return execFileSync('python3', ['-c', make, name], { input: content });
}

/** The wheel of a wagon, with or without its changes. */
function wheelOf(wagon: Buffer): Buffer {
  const read = `
import io, sys, tarfile
with tarfile.open(fileobj=io.BytesIO(sys.stdin.buffer.read())) as wagon:
    name = [one for one in wagon.getnames() if one.endswith('.whl')][0]
    sys.stdout.buffer.write(wagon.extractfile(name).read())
`;
  return execFileSync('python3', ['-c', read], { input: wagon });
}
const WHEEL = 'mine-1.0-py3-none-any.whl';
const halfWheel = (wagon: Buffer): Buffer => {
  const whole = wheelOf(wagon);
  return oneWheel(WHEEL, whole.subarray(0, whole.length / 2));
};
/** A wheel whose table is whole, while one byte of a file is another one. */
const damagedWheel = (wagon: Buffer): Buffer => {
  const wheel = Buffer.from(wheelOf(wagon));
  wheel[wheel.indexOf('from cloudify import ctx')] = 0x46;
  return oneWheel(WHEEL, wheel);
};

async function installed(): Promise<Rig & { prefix: string }> {
  const rig = makeRig();
  const wagon = wagonFor(rig);
  expect(await installPlugin(wagon, rig.deps.scripts, new AbortController().signal)).toBeNull();
  rig.host.installedPlugin = async (name) =>
    name === 'mine' ? { kind: 'python', prefix: wagon.target, properties: { region: 'x' } } : null;
  rig.task.plugin = { ...rig.task.plugin, name: 'mine' };
  return Object.assign(rig, { prefix: wagon.target });
}

describe('functions of Python plugins', () => {
  it('get their inputs and ctx, and end with what they return, retry or raise', async () => {
    const rig = await installed();
    expect(await rig.run({ mapping: 'mine.tasks.create', inputs: { port: 80, more: [1] } })).toEqual({
      kind: 'succeeded',
      result: { inputs: { more: [1] }, plugin: ['mine', rig.prefix, { region: 'x' }] },
    });
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({ port: 80 });
    expect(rig.host.lines).toContainEqual({ kind: 'log', level: 'debug', message: '<out> printed' });
    expect(await rig.run({ mapping: 'mine.tasks.patient', inputs: {} })).toMatchObject({
      kind: 'retry',
      retryAfter: 3,
    });
    expect(await rig.run({ mapping: 'mine.tasks.broken' })).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { exceptionType: 'NonRecoverableError', message: 'no' },
    });
  });

  it('find modules that only their wagon has, and what its REST client imports of the worker', async () => {
    const end = await (await installed()).run({ mapping: 'mine.tasks.library', inputs: {} });
    expect(end).toEqual({
      kind: 'succeeded',
      result: [
        'web_abc123',
        'theirs',
        false,
        '2024-01-30 23:00:00',
        '2024-03-02 00:00:00',
        { dependency_creator: 'a.b', target_deployment: 't' },
        { dependency_creator: 'a.b', source_deployment: 'from' },
      ],
    });
  });

  it.each([
    ['gone.tasks.create', 'No module named gone.tasks'],
    ['mine.tasks.gone', "mine.tasks has no function named 'gone'"],
    ['mine.tasks.nothing', 'mine.tasks.nothing is not callable'],
  ])('that are not there fail for good: %s', async (mapping, message) => {
    const end = await (await installed()).run({ mapping });
    expect(end).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { message: expect.stringContaining(message) },
    });
  });

  it('are run again after the loss of their worker only when they say that they bear it', async () => {
    const rig = await installed();
    expect(
      await rig.run({ mapping: 'mine.tasks.create', inputs: { port: 1 }, isResumed: true }),
    ).toMatchObject({
      kind: 'failed',
      isRecoverable: false,
      failure: { message: expect.stringContaining('Cannot resume - operation not resumable') },
    });
    const again = await rig.run({
      mapping: 'mine.tasks.patient',
      inputs: {},
      isResumed: true,
      retryNumber: 1,
    });
    expect(again).toEqual({ kind: 'succeeded', result: null });
  });
});

describe('wagons', () => {
  it('are unpacked without pip, with their commands', async () => {
    const { prefix } = await installed();
    expect(readFileSync(join(prefix, 'bin/mine-script'), 'utf8')).toBe(`#!${prefix}/bin/python\nprint(1)\n`);
    expect(readFileSync(join(prefix, 'bin/mine-command'), 'utf8')).toContain('from mine.tasks import create');
  });

  it.each([
    ['cp27-cp27m-manylinux1_x86_64', 'it is made for another Python or machine'],
    ['py3-none-win_amd64', 'mine-1.0-py3-none-win_amd64.whl'],
  ])('of another kind are refused with what they need: %s', async (tag, text) => {
    const rig = makeRig();
    const wagon = wagonFor(rig, tag);
    const failure = await installPlugin(wagon, rig.deps.scripts, new AbortController().signal);
    expect(failure).toContain(text);
    expect(existsSync(wagon.target)).toBe(false);
  });

  it.each([
    ['cut off', (whole: Buffer) => whole.subarray(0, whole.length / 2), /^the wagon is broken: /],
    ['with a changed wheel', damagedWheel, /^the wheel mine-1\.0-py3-none-any\.whl is broken: .*CRC/],
    ['with half a wheel', halfWheel, /^the wheel mine-1\.0-py3-none-any\.whl is broken: BadZipFile/],
    [
      'with a wheel for nobody',
      (_: Buffer) => oneWheel('mine.whl', Buffer.from('x')),
      /^the name of the wheel mine\.whl/,
    ],
  ])('that are broken are refused in one line, and leave nothing: %s', async (_, damage, text) => {
    const rig = makeRig();
    const wagon = wagonFor(rig);
    writeFileSync(wagon.path, damage(readFileSync(wagon.path)));
    const failure = await installPlugin(wagon, rig.deps.scripts, new AbortController().signal);
    expect(failure).toMatch(text);
    expect(failure).not.toContain('\n');
    expect(existsSync(wagon.target)).toBe(false);
  });

  it('that are none are refused', async () => {
    const rig = makeRig();
    const wagon = { ...wagonFor(rig), path: __filename };
    expect(await installPlugin(wagon, rig.deps.scripts, new AbortController().signal)).toContain(
      'neither a tar nor a zip archive',
    );
  });
});
