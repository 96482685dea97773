import type { WorkflowInstance, WorkflowNode } from '@baton/plugin-sdk';
import { isDict, type Json } from '../json';
import type { Model } from '../selection/select';
import { findInstances } from './find-instances';
import { entitiesOf, settingsOf } from './settings';

const node = (id: string, number_of_instances: number): WorkflowNode => ({
  id,
  type: 't',
  type_hierarchy: ['t'],
  properties: {},
  operations: {},
  number_of_instances,
});
const instance = (id: string, properties: { [key: string]: Json } = {}, host_id: string | null = null) =>
  ({
    id,
    node_id: id.replace(/_\d+$/, ''),
    host_id,
    state: 'started',
    runtime_properties: properties,
    relationships: [],
  }) as unknown as WorkflowInstance;

const model: Model = {
  nodes: [node('vm', 2), node('app', 3), node('branch', 1)],
  instances: [
    instance('vm_1', {}, 'vm_1'),
    instance('app_1', { color: 'red', _transaction_id: 'a' }, 'vm_1'),
    instance('app_2', { color: 'blue', _transaction_id: 'b' }, 'vm_1'),
    instance('branch_1', { deep: { color: 'red' }, _transaction_id: 'a' }),
  ],
};
const deployment = {
  groups: { pair: { members: ['app', 'vm'] }, other: { members: ['branch'] } },
  scaling_groups: { pair: { properties: { current_instances: 4 } } },
};

it('scales a group by the longest list of its nodes, and a node that is in no scaling group by itself', () => {
  const entities = entitiesOf(deployment, { app: [{}, {}], vm: [{ x: 1 }], branch: [{}] }, isDict);
  expect(entities).toEqual([
    { name: 'pair', count: 2, values: [{}, {}, { x: 1 }] },
    { name: 'branch', count: 1, values: [{}] },
  ]);
  const up = { direction: 1, scalesCompute: false } as const;
  expect(settingsOf({ deployment, model }, entities, up)).toEqual({
    pair: { instances: 6 },
    branch: { instances: 2 },
  });
});

it('scales the machine of a node when it is told to, and never below nothing', () => {
  const entities = entitiesOf({}, { app: ['app_1', 'app_2', 'app_3'] }, (value) => typeof value === 'string');
  expect(settingsOf({ deployment: {}, model }, entities, { direction: -1, scalesCompute: true })).toEqual({
    vm: { instances: 0, removed_ids_include_hint: ['app_1', 'app_2', 'app_3'] },
  });
});

it('an empty list scales nothing', () => {
  const up = { direction: 1, scalesCompute: false } as const;
  expect(settingsOf({ deployment, model }, entitiesOf(deployment, { branch: [] }, isDict), up)).toEqual({});
});

it.each<[unknown, string]>([
  [{}, 'expected a dictionary with a list for each node'],
  [[], 'expected a dictionary with a list for each node'],
  [{ app: 2 }, 'scalable_entity_properties.app: expected a list'],
  [{ app: ['x'] }, 'scalable_entity_properties.app: expected a list'],
])('refuses %j', (given, message) => {
  expect(() => entitiesOf(deployment, given, isDict)).toThrow(message);
});

it.each<[string, object, Record<string, string[]>]>([
  [
    'a value, with all of the same scale-out',
    { path: ['color'], values: ['red'] },
    { app: ['app_1'], branch: ['branch_1'] },
  ],
  [
    'several values',
    { path: ['color'], values: ['red', 'blue'], transactionField: '' },
    { app: ['app_1', 'app_2'] },
  ],
  ['a path', { path: ['deep', 'color'], values: ['red'], transactionField: '' }, { branch: ['branch_1'] }],
  ['a node', { path: ['color'], values: ['red', 'blue'], nodes: ['vm'] }, {}],
  ['no value', { path: ['none'], values: ['x'] }, {}],
])('finds instances by %s', (_, search, expected) => {
  const whole = { nodes: [], path: [], values: [], transactionField: '_transaction_id', ...search };
  expect(findInstances(model, whole)).toEqual(expected);
});
