import type { JsonObject } from '@baton/kernel';
import { broken, drive, labels, ok } from './testing/driver';
import { fixture, inputOf, type NodeFixture } from './testing/fixture';

/** Texts, states and order of one instance's sequences (reference workflows.md 1.6, 1.7, 1.12, 2.11). */

const VAL = 'cloudify.interfaces.validation';
const MON = 'cloudify.interfaces.monitoring';
const MA = 'cloudify.interfaces.monitoring_agent';
const AG = 'cloudify.interfaces.cloudify_agent';

/** Node events and operations in order; a state that a step sets stands in brackets before the step's messages. */
function story(workflow: string, node: NodeFixture): string[] {
  const model = fixture({ t: { state: 'started' }, a: node });
  const said: string[] = [];
  drive(workflow, inputOf(workflow, model, { node_ids: ['a'] }), {
    inspect: (_, decision) => {
      said.push(...decision.instanceStates.map((s) => `[${s.state}]`));
      for (const e of decision.events) {
        if (e.type === 'workflow_node_event') said.push(e.message);
        if (e.type === 'sending_task') said.push(`> ${e.operation!.split('.').slice(-2).join('.')}`);
      }
    },
  });
  return said;
}

const LIFE = [
  'precreate',
  'create',
  'configure',
  'start',
  'poststart',
  'prestop',
  'stop',
  'delete',
  'postdelete',
];
const FULL: NodeFixture = {
  ops: [`${VAL}.create`, `${VAL}.delete`, `${MON}.start`, `${MON}.stop`, ...LIFE],
  rels: [{ to: 't', source: ['preconfigure', 'postconfigure', 'establish', 'unlink'] }],
};

test('a full install says and sets everything', () => {
  expect(story('install', FULL)).toEqual([
    ...['[initializing]', 'Validating node instance before creation', '> validation.create'],
    ...['Node instance validated before creation', 'Precreating node instance', '> lifecycle.precreate'],
    ...['[creating]', 'Node instance precreated', 'Creating node instance', '> lifecycle.create'],
    ...[
      '[created]',
      'Node instance created',
      'Pre-configuring relationships',
      '> relationship_lifecycle.preconfigure',
    ],
    ...[
      '[configuring]',
      'Relationships pre-configured',
      'Configuring node instance',
      '> lifecycle.configure',
    ],
    ...['[configured]', 'Node instance configured'],
    ...['Post-configuring relationships', '> relationship_lifecycle.postconfigure'],
    ...['[starting]', 'Relationships post-configured', 'Starting node instance', '> lifecycle.start'],
    ...[
      'Poststarting node instance',
      '> lifecycle.poststart',
      'Node instance poststarted',
      '> monitoring.start',
    ],
    ...['Establishing relationships', '> relationship_lifecycle.establish'],
    ...['[started]', 'Relationships established', 'Node instance started'],
  ]);
});

test('a full uninstall too', () => {
  expect(story('uninstall', { ...FULL, state: 'started' })).toEqual([
    ...[
      '[stopping]',
      'Stopping node instance',
      'Validating node instance before deletion',
      '> validation.delete',
    ],
    ...['Node instance validated before deletion', '> monitoring.stop'],
    ...['Prestopping node instance', '> lifecycle.prestop', 'Node instance prestopped', '> lifecycle.stop'],
    ...['[stopped]', 'Stopped node instance', 'Unlinking relationships', '> relationship_lifecycle.unlink'],
    ...['[deleting]', 'Relationships unlinked', 'Deleting node instance', '> lifecycle.delete'],
    ...['Postdeleting node instance', '> lifecycle.postdelete'],
    ...['[deleted]', 'Node instance postdeleted', 'Deleted node instance'],
  ]);
});

test('a host on which nothing is implemented is told of as one that is installed', () => {
  const properties = { agent_config: { install_method: 'none' } };
  const said = story('install', { types: ['cloudify.nodes.Compute'], properties });
  expect(said).toEqual(expect.arrayContaining(['[initializing]', 'Node instance started']));
});

test.each([
  ['started', [], ['[started]', 'Node instance started (nothing to do)']],
  ['uninitialized', [], ['[started]', 'Node instance started (nothing to do)']],
  ['starting', ['create', 'start'], ['> lifecycle.start']],
  ['configuring', ['create', 'configure'], ['> lifecycle.configure']],
  ['creating', ['precreate', 'create'], ['> lifecycle.create']],
  ['stopped', ['precreate', 'create'], ['> lifecycle.precreate', '> lifecycle.create']],
])('an install from %s with %j goes on where it stopped', (state, ops, expected) => {
  const said = story('install', { ops, state });
  expect(ops.length === 0 ? said : said.filter((l) => l.startsWith('>'))).toEqual(expected);
});

test.each([
  [
    'stopped',
    [
      'Stop: instance already stopped',
      'Deleting node instance',
      '> lifecycle.delete',
      'Deleted node instance',
    ],
    ['deleting', 'deleted'],
  ],
  [
    'uninitialized',
    [
      'Stop: instance already uninitialized',
      'Delete: instance already uninitialized',
      'Deleted node instance',
    ],
    ['stopped', 'deleted'],
  ],
  ['deleted', ['Stop: instance already deleted', 'Delete: instance already deleted'], []],
  [
    'configured',
    [
      'Stop: instance already configured',
      'Deleting node instance',
      '> lifecycle.delete',
      'Deleted node instance',
    ],
    ['stopped', 'deleting', 'deleted'],
  ],
])('an uninstall from %s', (state, lines, states) => {
  const said = story('uninstall', { ops: ['stop', 'delete'], state });
  expect(said.filter((l) => !l.startsWith('['))).toEqual([
    'Validating node instance after deletion: nothing to do',
    ...lines,
  ]);
  expect(said.filter((l) => l.startsWith('['))).toEqual(states.map((s) => `[${s}]`));
});

const HOST_OPS = [
  `${AG}.create`,
  `${AG}.start`,
  `${AG}.stop`,
  `${AG}.stop_amqp`,
  `${AG}.delete`,
  `${MA}.install`,
  `${MA}.start`,
  `${MA}.stop`,
  `${MA}.uninstall`,
];

function hostCalls(method: unknown, workflow: string): string[] {
  const properties: JsonObject =
    method === false
      ? { install_agent: false }
      : { install_agent: '', agent_config: { install_method: method as string } };
  const state = workflow === 'install' ? 'uninitialized' : 'started';
  const model = fixture({ h: { ops: HOST_OPS, types: ['cloudify.nodes.Compute'], properties, state } });
  return labels(drive(workflow, inputOf(workflow, model), { run: () => ok(true) })).map(
    (l) => l.split(' ')[0]!,
  );
}

test.each([
  [false, ['install', 'start'], ['stop', 'uninstall']],
  ['remote', ['create', 'install', 'start'], ['stop', 'uninstall', 'stop', 'delete']],
  ['init_script', ['create', 'start', 'install', 'start'], ['stop', 'uninstall', 'stop_amqp', 'delete']],
  ['provided', ['create', 'install', 'start'], ['stop', 'uninstall', 'stop_amqp', 'delete']],
])('a host whose agent comes by %s', (method, up, down) => {
  expect(hostCalls(method, 'install')).toEqual(up);
  expect(hostCalls(method, 'uninstall')).toEqual(down);
});

test('a dry run tells the sequence, sends nothing and sets nothing', () => {
  const model = fixture({ a: { ops: ['create'] } });
  const record = drive('install', { ...inputOf('install', model), dryRun: true });
  expect(record.calls).toEqual([]);
  expect(model.nodeInstances[0]!.state).toBe('uninitialized');
  expect(record.events.map((e) => e.message)).toEqual([
    "Subgraph started 'install_a_0' (dry run)",
    'Validating node instance before creation: nothing to do',
    'Precreating node instance: nothing to do',
    'Creating node instance',
    "Task succeeded 'probe.op' (dry run)",
    'Node instance created',
    'Configuring node instance: nothing to do',
    'Starting node instance: nothing to do',
    'Poststarting node instance: nothing to do',
    'Node instance started',
    "Subgraph succeeded 'install_a_0' (dry run)",
  ]);
});

test('a relationship that names an operation waits for that one alone', () => {
  const nodes = {
    t: { ops: ['create', 'start'] },
    s: { ops: ['create'], rels: [{ to: 't', properties: { operation: 'create' } }] },
    free: { ops: ['create'], rels: [{ to: 't', properties: { operation: 'configure' } }] },
  };
  const { calls } = drive('install', inputOf('install', fixture(nodes)));
  const from = (label: string) => calls.find((c) => c.label === label)!.from;
  expect(from('create free')).toBe(0);
  expect(from('create s')).toBe(10);
  expect(from('start t')).toBe(10);
});

test('of several relationships between two nodes only the last one counts', () => {
  const rels = [
    { to: 't', source: ['establish', 'preconfigure'] },
    { to: 't', source: ['establish'] },
  ];
  const record = drive('install', inputOf('install', fixture({ t: {}, s: { rels } })));
  expect(labels(record)).toEqual(['establish s->t']);
});

test('groups of relationships run in a row, operations of a group side by side', () => {
  const source = ['establish'];
  const nodes = {
    x: { count: 2 },
    y: {},
    s: {
      rels: [
        { to: 'x', source, target: source },
        { to: 'y', source },
      ],
    },
  };
  const { calls } = drive('install', inputOf('install', fixture(nodes)));
  expect(calls.map((c) => [c.label, c.from])).toEqual([
    ...Array(4).fill(['establish s->x', 0]),
    ['establish s->y', 10],
  ]);
});

test('ignoring failures goes on with an event and without retries', () => {
  const model = fixture({ a: { ops: ['stop', 'delete'], state: 'started' } });
  const record = drive('uninstall', inputOf('uninstall', model, { ignore_failure: true }), {
    run: (_, nth) =>
      nth === 1
        ? { kind: 'retry', message: 'wait', retryAfterMs: 1 }
        : { kind: 'failed', error: { type: 'RecoverableError', message: 'x', recoverable: true } },
  });
  expect(record.outcome).toBe('succeeded');
  expect(labels(record)).toEqual(['stop a', 'stop a', 'delete a', 'delete a']);
  expect(record.events.filter((e) => e.message === 'Ignoring task probe.op failure')).toHaveLength(2);
});

test('what asks to be run again more often than it may is a failure that nothing ignores', () => {
  const model = fixture({ a: { ops: ['stop', 'delete'], state: 'started' } });
  const record = drive('uninstall', inputOf('uninstall', model, { ignore_failure: true }), {
    run: () => ({ kind: 'retry', message: 'wait', retryAfterMs: 1 }),
  });
  expect(record.outcome).toBe('failed');
  expect(new Set(labels(record))).toEqual(new Set(['stop a']));
});

test.each([
  ['install', []],
  ['uninstall', ["Subgraph started 'stub_s_0'", "Subgraph succeeded 'stub_s_0'"]],
])('%s: to unlink from what goes is a task of the source, implemented or not', (workflow, expected) => {
  const model = fixture({ t: { ops: ['stop'], state: 'started' }, s: { rels: ['t'], state: 'started' } });
  const record = drive(workflow, inputOf(workflow, model, { node_ids: ['t'] }));
  expect(record.events.map((e) => e.message).filter((text) => text.includes('stub_'))).toEqual(expected);
});

test.each([
  ['starting', ['stop', 'delete'], ['Stopping node instance', '> lifecycle.stop', 'Stopped node instance']],
  ['creating', ['stop', 'delete'], ['Deleting node instance', '> lifecycle.delete']],
])('a rollback from %s', (state, ops, expected) => {
  const said = story('rollback', { ops, state }).filter((line) => !line.startsWith('['));
  const without = (line: string) => !/nothing to do|Rollbacked/.test(line);
  expect(said.filter(without)).toEqual(expected);
  expect(said).toContain('Validating node instance after deletion: nothing to do');
});

test.each([
  ['install', 'create', ['create', 'stop', 'delete', 'create', 'start']],
  ['install', 'start', ['create', 'start', 'stop', 'delete', 'create', 'start']],
  ['uninstall', 'stop', ['stop', 'stop', 'delete']],
  ['uninstall', 'delete', ['stop', 'delete', 'stop', 'delete']],
])('%s: after %s failed the whole lifecycle runs again', (workflow, operation, expected) => {
  const state = workflow === 'install' ? 'uninitialized' : 'started';
  const model = fixture({ a: { ops: ['create', 'start', 'stop', 'delete'], state } });
  let failures = 0;
  const record = drive(workflow, inputOf(workflow, model, {}, { subgraphRetries: 1 }), {
    run: (p) => (p.operation.endsWith(`.${operation}`) && failures++ === 0 ? broken(false) : ok()),
  });
  expect(record.outcome).toBe('succeeded');
  expect(labels(record)).toEqual(expected.map((name) => `${name} a`));
});
