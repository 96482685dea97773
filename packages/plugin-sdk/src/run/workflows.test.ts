import * as z from 'zod';
import {
  CancelledError,
  definePlugin,
  nodeType,
  type WorkflowContext,
  WorkflowFailedError,
  workflow,
} from '../index';
import { describePlugin } from '../manifest';

const ctx = { signal: new AbortController().signal, executionToken: 't', tenant: 'a', workflowId: 'rotate' };
const rotate = workflow({
  parameters: z.object({ days: z.int().min(1).default(30) }),
  run: (own, { days, ...others }) => [own.workflowId, days, others],
  mapping: 'old.tasks.rotate',
  isResumable: true,
});
const types = { 'dns.nodes.Record': nodeType({ create: () => 1 }) };
const about = { name: 'dns', version: '1.0.0', aliases: ['old'], types };
const plugin = definePlugin({
  ...about,
  workflows: { rotate, plain: { run: (_, parameters) => parameters } },
});
const run = (mapping: string, parameters: object) => {
  const found = plugin.workflows![mapping]!;
  if (typeof found === 'function') throw new Error('expected a record');
  return found.run(ctx as WorkflowContext, parameters as never);
};

it('has workflows by mapping, whose parameters are checked, with defaults', () => {
  expect(Object.keys(plugin.workflows!)).toEqual(['tasks.rotate', 'plain']);
  expect(plugin.workflows!['tasks.rotate']).toMatchObject({ isResumable: true });
  expect(run('tasks.rotate', { more: 1 })).toEqual(['rotate', 30, { more: 1 }]);
  expect(() => run('tasks.rotate', { days: 'x' })).toThrow(/parameters\.days: /);
  expect(run('plain', { any: 1 })).toEqual({ any: 1 });
});

it('plugin.yaml names the mapping', () => {
  expect(describePlugin(plugin).yaml.workflows).toMatchObject({
    rotate: { mapping: 'old.tasks.rotate' },
    plain: { mapping: 'dns.plain' },
  });
});

it('refuses mistakes with their place', () => {
  const bad = (more: object) => () =>
    definePlugin({ ...about, workflows: { rotate: { run: () => 1, ...more } } });
  expect(bad({ mapping: 'other.rotate' })).toThrow(
    'plugin.workflows.rotate.mapping: "other.rotate"; expected a mapping after one of dns, old and a dot',
  );
  expect(bad({ isResumeable: true })).toThrow('did you mean isResumable?');
  expect(() => definePlugin({ ...about, workflows: { 'tasks-rotate': rotate, other: rotate } })).toThrow(
    'the mapping tasks.rotate is there twice',
  );
});

it('errors of workflows are known whichever copy of the SDK made them, and apart from each other', () => {
  let copy!: typeof import('../index');
  jest.isolateModules(() => {
    copy = require('../index');
  });
  const failed = new copy.WorkflowFailedError('x');
  expect(failed).not.toBeInstanceOf(CancelledError);
  expect([
    failed instanceof WorkflowFailedError,
    new copy.CancelledError() instanceof CancelledError,
  ]).toEqual([true, true]);
  class Own extends CancelledError {}
  expect([new CancelledError() instanceof Own, new Own() instanceof Own]).toEqual([false, true]);
});
