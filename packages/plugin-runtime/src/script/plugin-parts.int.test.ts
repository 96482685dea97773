import { makeRig } from '../testing/memory-host';

/** Modules that real plugins import besides ctx; the tests run them inside an operation. */

const REMOTE = `
import os, shutil, subprocess, sys, tempfile
from cloudify import ctx, ctx_wrappers
from cloudify.proxy import client, server

place = tempfile.mkdtemp()
shutil.copy(client.__file__, os.path.join(place, 'proxy_client'))
shutil.copy(os.path.join(os.path.dirname(ctx_wrappers.__file__), 'ctx-py.py'), os.path.join(place, 'cloudify.py'))
with open(os.path.join(place, 'ctx'), 'w') as command:
    command.write('#!/bin/sh\\nexec %s %s/proxy_client "$@"' % (sys.executable, place))
os.chmod(os.path.join(place, 'ctx'), 0o755)

def elsewhere(served, *command):
    """A program that has nothing of the worker but the copied files and the address."""
    proxy = server.HTTPCtxProxy(served)
    env = {'CTX_SOCKET_URL': proxy.socket_url, 'PATH': place + ':/usr/bin:/bin', 'PYTHONPATH': place}
    try:
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    finally:
        proxy.close()
    return [done.returncode, done.stdout.decode(), done.stderr.decode()]
`;

describe('what plugins serve to programs of theirs', () => {
  it('answers the ctx command from the copied file', async () => {
    const rig = makeRig();
    const end = await rig.script(`${REMOTE}
ctx.instance.runtime_properties['list'] = [{'port': 80}]
said = [elsewhere(ctx, 'ctx', *words)[:2] for words in (
    ['instance', 'id'], ['-j', 'node', 'properties'], ['instance', 'runtime-properties', 'list[0].port'],
    ['instance', 'runtime_properties', 'deep.er', '@{"a": 1}'], ['-j', 'instance', 'runtime_properties', 'deep'],
    ['logger', 'info', 'from elsewhere'])]
wrong = elsewhere(ctx, 'ctx', 'instance', 'runtime_properties', 'no.where')
ctx.returns([said, wrong[0], 'illegal path: no.where' in wrong[2]])`);
    expect(end).toMatchObject({ kind: 'succeeded' });
    const [said, code, isNamed] = (end as { result: unknown[] }).result;
    expect(said).toEqual([
      [0, 'web_abc123'],
      [0, JSON.stringify(rig.host.nodes.get('web')?.properties).replaceAll(/([,:])/g, '$1 ')],
      [0, '80'],
      [0, ''],
      [0, '{"er": {"a": 1}}'],
      [0, ''],
    ]);
    expect([code, isNamed]).toEqual([1, true]);
    expect(rig.host.lines).toContainEqual({ kind: 'log', level: 'info', message: 'from elsewhere' });
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({
      list: [{ port: 80 }],
      deep: { er: { a: 1 } },
    });
  });

  it('lets an object of the plugin answer, which may stop the program', async () => {
    const rig = makeRig();
    const end = await rig.script(`${REMOTE}
class Served(object):
    def __getattr__(self, name):
        return getattr(ctx, name)
    def abort_operation(self, message=None):
        return client.ScriptException(message)
    def returns(self, value):
        self.returned = value

served = Served()
stopped = elsewhere(served, 'ctx', 'abort-operation', 'enough')
elsewhere(served, 'ctx', 'returns', '@[1, null]')
ctx.returns([stopped[0], 'enough' in stopped[2], served.returned, ctx._return_value])`);
    expect(end).toEqual({ kind: 'succeeded', result: [1, true, [1, null], null] });
  });

  it('is the module cloudify of Python programs', async () => {
    const rig = makeRig();
    rig.host.files = { 'a.txt': 'text' };
    const end = await rig.script(`${REMOTE}
ctx.instance.runtime_properties['old'] = 1
done = elsewhere(ctx, sys.executable, '-c', '''
from cloudify import ctx
ctx.logger.warning('careful')
ctx.instance.runtime_properties['seen'] = [ctx.node.id, ctx.instance.runtime_properties['old'], dict(ctx.node.properties)]
del ctx.instance.runtime_properties['old']
print(open(ctx.download_resource('a.txt')).read())
''')
ctx.returns(done)`);
    expect(end).toEqual({ kind: 'succeeded', result: [0, 'text\n', ''] });
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({
      seen: ['web', 1, rig.host.nodes.get('web')?.properties],
    });
    expect(rig.host.lines).toContainEqual({ kind: 'log', level: 'warning', message: 'careful' });
  });
});

describe('names that plugins call by', () => {
  it('are those of the original: parameters of decorators, states, loggers', async () => {
    const rig = makeRig();
    const end = await rig.script(`
import logging
from cloudify import ctx
from cloudify.decorators import operation, serial_operation, workflow
from cloudify.logs import init_cloudify_logger
from cloudify.models_states import AgentState, BlueprintUploadState, DeploymentState
from cloudify.utils import ManagerVersion, format_exception, get_python_path
from cloudify.workflows.tasks_graph import make_or_get_graph

class Kept(logging.Handler):
    lines = []
    def emit(self, record):
        self.lines.append(self.format(record))

def wrapped(**inputs):
    return inputs
op = operation(func=wrapped, resumable=True)
wf = workflow(func=wrapped, system_wide=True)
init_cloudify_logger(Kept(), 'mine').debug('kept')
ctx.returns([
    op(a=1), op is wf is wrapped, wrapped.workflow_system_wide, make_or_get_graph(f=wrapped)(name='n', b=2), Kept.lines,
    AgentState.STARTED, DeploymentState.GOOD, BlueprintUploadState.END_STATES[-1], format_exception(e=ValueError('x')),
    ManagerVersion('7.0.3').greater_than(ManagerVersion('6.4-rc1')), get_python_path('/v')])`);
    expect(end).toEqual({
      kind: 'succeeded',
      result: [
        { a: 1 },
        true,
        true,
        { b: 2 },
        ['kept'],
        'started',
        'good',
        'uploaded',
        'x',
        true,
        '/v/bin/python',
      ],
    });
    expect(rig.host.lines).not.toContainEqual(expect.objectContaining({ message: 'kept' }));
  });
});
