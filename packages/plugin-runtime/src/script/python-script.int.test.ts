import { makeRig } from '../testing/memory-host';

describe('Python scripts', () => {
  it('read ctx and inputs and write runtime properties, nested changes too', async () => {
    const rig = makeRig();
    Object.assign(rig.host.instances.get('web_abc123')?.runtime_properties ?? {}, { old: { deep: [1] } });
    const end = await rig.script(
      `
       from cloudify import ctx
       from cloudify.state import ctx_parameters as inputs
       ctx.logger.info('port {0} of {1}'.format(ctx.node.properties['port'], ctx.instance.id))
       ctx.instance.runtime_properties['sum'] = inputs.a + inputs['b']
       ctx.instance.runtime_properties['old']['deep'].append(2)
       ctx.send_event('event')
       print('printed')
       ctx.returns({'op': ctx.operation.name, 'dep': ctx.deployment.id, 'plugin': ctx.plugin == 'script', 'main': __name__})`,
      { a: 1, b: 2 },
    );
    expect(end).toEqual({
      kind: 'succeeded',
      result: { op: 'cloudify.interfaces.lifecycle.start', dep: 'dep', plugin: true, main: '__main__' },
    });
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({
      sum: 3,
      old: { deep: [1, 2] },
    });
    expect(rig.host.logged()).toEqual(['port 8080 of web_abc123', 'event', '<out> printed']);
  });

  it.each([
    [
      'NonRecoverableError("no")',
      {
        kind: 'failed',
        isRecoverable: false,
        failure: { exceptionType: 'NonRecoverableError', message: 'no' },
      },
    ],
    [
      'RecoverableError("soon", retry_after=4)',
      { kind: 'failed', isRecoverable: true, retryAfter: 4, failure: { message: 'soon [retry_after=4]' } },
    ],
    [
      'OperationRetry("again", retry_after=2)',
      { kind: 'retry', retryAfter: 2, failure: { exceptionType: 'OperationRetry' } },
    ],
    [
      'ValueError("other")',
      {
        kind: 'failed',
        isRecoverable: true,
        retryAfter: null,
        failure: { exceptionType: 'ValueError', message: 'other' },
      },
    ],
  ])('end as what they raise: %s', async (raised, expected) => {
    const rig = makeRig();
    const end = await rig.script(
      `from cloudify import ctx\nfrom cloudify.exceptions import *\nctx.instance.runtime_properties['before'] = 1\nraise ${raised}\n`,
    );
    expect(end).toMatchObject(expected);
    if (end.kind === 'failed') expect(end.failure.traceback).toContain('script.sh", line 4');
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({ before: 1 });
  });

  it.each([
    [
      'an error whose text cannot be had',
      'class Odd(NonRecoverableError):\n    def __str__(self):\n        raise KeyError(1)\nraise Odd()',
      {
        isRecoverable: false,
        failure: { exceptionType: 'Odd', message: 'a value of type Odd without text' },
      },
    ],
    [
      'causes and times that are no JSON',
      "raise NonRecoverableError('no', causes=[{'type': b'x', 'message': object, 'traceback': float('nan')}, 5])",
      { isRecoverable: false, failure: { message: 'no', causes: [{ type: "b'x'" }, { message: 'no' }] } },
    ],
    [
      'a time that nobody can wait',
      "raise RecoverableError('again', retry_after=float('nan'))",
      { isRecoverable: true, retryAfter: null, failure: { exceptionType: 'RecoverableError' } },
    ],
    ['bytes', "ctx.returns(b'x')", { failure: { message: expect.stringContaining('bytes') } }],
    [
      'a number that JSON has not',
      "ctx.instance.runtime_properties['n'] = float('inf')",
      { failure: { message: expect.stringContaining('JSON') } },
    ],
    [
      'what is nested too deeply',
      'x = []\nfor _ in range(100000): x = [x]\nctx.returns(x)',
      { failure: { message: 'a value is nested too deeply to be written as JSON' } },
    ],
  ])('say what is wrong with %s', async (_, source, expected) => {
    const end = await makeRig().script(
      `from cloudify import ctx\nfrom cloudify.exceptions import *\n${source}\n`,
    );
    expect(end).toMatchObject({ kind: 'failed', ...expected });
  });

  it('may have properties with keys of several kinds and close their output', async () => {
    const rig = makeRig();
    const source =
      "import sys\nfrom cloudify import ctx\nctx.instance.runtime_properties['a'] = {1: 2, 'b': 3, None: 4}";
    expect(await rig.script(`${source}\nsys.stdout.close()`)).toMatchObject({ kind: 'succeeded' });
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({ a: { 1: 2, b: 3, null: 4 } });
  });

  it('only record abort and retry and go on', async () => {
    const rig = makeRig();
    const end = await rig.script(
      `from cloudify import ctx\nctx.retry_operation('later', 3)\nctx.logger.info('went on')`,
    );
    expect(end).toMatchObject({ kind: 'retry', retryAfter: 3, failure: { message: 'later' } });
    expect(rig.host.logged()).toEqual(['went on']);
  });

  it('refuse writes to properties and to targets of relationships, resolve conflicts by a function', async () => {
    const rig = makeRig();
    const own = rig.host.instances.get('web_abc123');
    own?.relationships.push({ type: 't.rel', target_id: 'db_def456', target_name: 'db' });
    Object.assign(rig.host.instances.get('db_def456')?.runtime_properties ?? {}, { url: 'u' });
    const save = rig.host.saveRuntimeProperties;
    let conflicts = 0;
    rig.host.saveRuntimeProperties = async (write) => {
      if (conflicts++ < 2)
        rig.host.instances.set('web_abc123', {
          ...(own as never as object),
          version: 8 + conflicts,
          runtime_properties: { theirs: 1 },
        } as never);
      return save(write);
    };
    const end = await rig.script(
      `
       from cloudify import ctx
       from cloudify.exceptions import NonRecoverableError
       target = ctx.instance.relationships[0].target
       refused = []
       for change in (lambda: ctx.node.properties.update(a=1), lambda: target.instance.runtime_properties.clear()):
           try:
               change()
           except NonRecoverableError as e:
               refused.append(str(e))
       from cloudify_rest_client.exceptions import CloudifyClientError
       ctx.instance.runtime_properties['lost'] = 1
       try:
           ctx.instance.update()
       except CloudifyClientError as e:
           refused.append([type(e).__name__, e.status_code, e.error_code])
       ctx.instance.refresh(force=True)
       ctx.instance.runtime_properties['mine'] = target.instance.runtime_properties['url']
       ctx.instance.update(on_conflict=lambda mine, latest: dict(latest, **mine))
       ctx.returns(refused)`,
    );
    expect(end).toEqual({
      kind: 'succeeded',
      result: [
        'Cannot override read only properties',
        'Cannot modify runtime properties of relationship node instances',
        ['CloudifyClientError', 409, 'conflict_error'],
      ],
    });
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({ theirs: 1, mine: 'u' });
  });

  it('are told from shell by name, by their first line or by trying', async () => {
    const rig = makeRig();
    expect(await rig.script('echo "not python" && ctx returns shell')).toMatchObject({ result: 'shell' });
    expect(await rig.script('#!/bin/sh\nx=1')).toMatchObject({ kind: 'succeeded' });
    rig.host.files = {
      'a.py': 'from cloudify import ctx\nctx.returns(1)',
      plain: 'from cloudify import ctx\nctx.returns(2)',
      'broken.py': 'def',
    };
    expect(await rig.run({ inputs: { script_path: 'a.py' } })).toMatchObject({ result: 1 });
    expect(await rig.run({ inputs: { script_path: 'plain', process: { eval_python: true } } })).toMatchObject(
      { result: 2 },
    );
    expect(await rig.run({ inputs: { script_path: 'broken.py' } })).toMatchObject({
      kind: 'failed',
      isRecoverable: true,
      failure: { exceptionType: 'SyntaxError' },
    });
  });

  it('fail with their exit code', async () => {
    const rig = makeRig();
    expect(await rig.script('import sys\nsys.exit(0)')).toMatchObject({ kind: 'succeeded' });
    expect(await rig.script('import sys\nsys.exit(3)')).toMatchObject({
      kind: 'failed',
      failure: { message: expect.stringContaining('exit_code: 3') },
    });
  });

  it('use the ctx module that calls the ctx command', async () => {
    const rig = makeRig();
    Object.assign(rig.host.files, { 't.txt': 'x', 'conf/a': 'a', 'conf/in/b': 'b', 'configuration/c': 'c' });
    const end = await rig.script(
      `#!/bin/bash
       cat > t.py <<'END'
import os, sys
sys.dont_write_bytecode = True
sys.path[:0] = os.environ['PATH'].split(':')
from ctx import ctx
ctx.instance.runtime_properties['a'] = {'b': [1]}
del ctx.instance.runtime_properties['gone']
ctx.logger.info(ctx('node name') + str(ctx.node.properties.get('none', 'otherwise')))
folder = ctx.download_directory('conf')
ctx.logger.info(' '.join(sorted(os.listdir(folder))) + open(folder + '/in/b').read())
ctx.returns({'file': open(ctx.download_resource('t.txt')).read(), 'a': ctx.instance.runtime_properties['a']})
END
       python3 t.py`.replaceAll('\n       ', '\n'),
      {},
    );
    expect(end).toMatchObject({ kind: 'failed' });
    Object.assign(rig.host.instances.get('web_abc123')?.runtime_properties ?? {}, { gone: 1 });
    expect(await rig.run()).toEqual({ kind: 'succeeded', result: { file: 'x', a: { b: [1] } } });
    expect(rig.host.instances.get('web_abc123')?.runtime_properties).toEqual({ a: { b: [1] } });
    expect(rig.host.logged()).toContain('webotherwise');
    expect(rig.host.logged()).toContain('a inb');
  });
});
