// A format number of a later release is refused with an error that names the kind, the place and the numbers that this release
// reads.

import { executionFinished } from '@baton/contracts';
import { readFoldedJson, unfoldedJson } from '@baton/kernel';
import { readEnvelope } from '../../packages/broker/src/catalogue';
import { parseDocument } from '../../services/deployments/src/store/documents.sql';
import { type GraphTasks, readTasks } from '../../services/executions/src/engine/store/tasks.sql';

test('a folded text', () => {
  const text = '{"$folded":2,"shared":[],"value":{}}';
  const says = 'a folded text: format 2 of a folded JSON text is unknown here; this release reads 1';
  expect(() => readFoldedJson(text)).toThrow(says);
  expect(() => unfoldedJson(text)).toThrow(says);
  expect(() => readFoldedJson('{"$folded":"new"}')).toThrow('format null of a folded JSON text');
});

test('a document of a deployment', () => {
  expect(parseDocument('d1', '{"workflows":{}}')).toEqual({ workflows: {} });
  expect(parseDocument('d1', 'null')).toBeNull();
  expect(() => parseDocument('d1', '{"$format":2}')).toThrow('document d1: format 2 of a model document');
});

test('a graph, before anything of it is read', async () => {
  const head: GraphTasks = { id: 'g', format: 2, execution_id: 'e', created_at: '', tasks: null };
  await expect(readTasks(null as never, head, { withResults: false })).rejects.toThrow(
    'graph g: format 2 of a task graph is unknown here; this release reads 1',
  );
});

test('a message', () => {
  const envelope = {
    id: 'm',
    type: 'executions.execution-finished.v2',
    tenant: 't',
    key: 'k',
    time: '2026-11-25T12:00:00Z',
  };
  expect(() => readEnvelope(executionFinished, { ...envelope, payload: {} })).toThrow('is another message');
});
