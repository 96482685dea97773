import type { DeploymentModel } from '../model';
import { broken, drive, ok } from '../testing/driver';
import { CONFIG, fixture, inputOf, type NodeFixture } from '../testing/fixture';
import { refreshedOperations } from './refresh-operations';

/** The changes of an update that a later resume uses (reference workflows.md 2.9). */

const nodes = (word: string): { [id: string]: NodeFixture } => ({
  a: { ops: ['create'], inputs: { word, list: [{ b: 1, a: 2 }] } },
  b: { ops: ['create'], rels: [{ to: 'a', source: ['establish'], target: ['establish'] }] },
  gone: { ops: ['create'], rels: ['b'] },
});
const config = CONFIG;

function stoppedRows(program = 'install', parameters = {}) {
  const input = inputOf(program, fixture(nodes('old')), parameters);
  const run = (p: { nodeId: string; operation: string }) =>
    p.nodeId === 'a' && p.operation.endsWith('create') ? broken() : ok();
  return drive(program, input, { run }).stages[0]!.rows;
}

const wordsOf = (model: DeploymentModel, program = 'install', rows = stoppedRows(program)) =>
  [...refreshedOperations(program, rows, { model, config }).values()].map((payload) => [
    payload.operation,
    payload.nodeId,
    payload.inputs.word,
  ]);

test('operations that have not succeeded get what the node says by now, and nothing else changes', () => {
  expect(wordsOf(fixture(nodes('old')))).toEqual([]);
  expect(wordsOf(fixture(nodes('new')))).toEqual([['cloudify.interfaces.lifecycle.create', 'a', 'new']]);
});

test('members of stored inputs may stand in another order', () => {
  const rows = stoppedRows().map((row) =>
    row.kind === 'operation' && row.payload.nodeId === 'a' && row.payload.relationship === null
      ? { ...row, payload: { ...row.payload, inputs: { list: [{ a: 2, b: 1 }], word: 'old' } } }
      : row,
  );
  expect(wordsOf(fixture(nodes('old')), 'install', rows)).toEqual([]);
});

test('of relationships as well; what is no longer there stays as it was', () => {
  const model = fixture(nodes('old'));
  const [establish] = Object.keys(model.nodes[1]!.relationships[0]!.source_operations!);
  for (const side of ['source_operations', 'target_operations'] as const)
    model.nodes[1]!.relationships[0]![side]![establish!]!.inputs = { word: side };
  model.nodeInstances = model.nodeInstances.filter(({ node_id }) => node_id !== 'gone');
  expect(wordsOf(model)).toEqual([
    [establish, 'b', 'source_operations'],
    [establish, 'a', 'target_operations'],
  ]);
  const alone = fixture({ a: { ops: [] }, b: { ops: ['create'] } });
  expect(wordsOf(alone)).toEqual([]);
  expect(wordsOf(fixture({}))).toEqual([]);
});

test('operations that were given inputs by the workflow keep them', () => {
  const parameters = { operation: 'cloudify.interfaces.lifecycle.create' };
  const rows = stoppedRows('execute_operation', parameters);
  expect(wordsOf(fixture(nodes('new')), 'execute_operation', rows)).toEqual([]);
});
