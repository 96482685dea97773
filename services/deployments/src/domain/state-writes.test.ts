import { foldWrites } from './state-writes';

it('keeps the last state per instance and every edit with its seq, sorted by id', () => {
  const edit = (path: string) => JSON.stringify([{ edit: 'unset', path: [path] }]);
  const folded = foldWrites([
    { nodeInstanceId: 'b', state: '', seq: 5, edits: edit('late') },
    { nodeInstanceId: 'b', state: 'created', seq: 3, edits: edit('early') },
    { nodeInstanceId: 'a', state: 'creating', seq: 4, edits: '' },
    { nodeInstanceId: 'b', state: 'creating', seq: 1, edits: '' },
  ]);
  expect(folded).toEqual([
    { id: 'a', state: 'creating', state_seq: 4, seq: 4, edits: null },
    {
      id: 'b',
      state: 'created',
      state_seq: 3,
      seq: 5,
      edits: [
        { edit: 'unset', path: ['early'], seq: 3 },
        { edit: 'unset', path: ['late'], seq: 5 },
      ],
    },
  ]);
});

it('takes an object as members to set', () => {
  const [folded] = foldWrites([{ nodeInstanceId: 'a', state: '', seq: 1, edits: '{"status":{"ok":true}}' }]);
  expect(folded!.edits).toEqual([{ edit: 'set', path: ['status'], value: { ok: true }, seq: 1 }]);
});
