import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blueprintState } from '@baton/contracts/http/blueprints';
import { uploadMachine } from './upload.machine';

it('has the states that the table and the API know', () => {
  const migration = readFileSync(join(__dirname, '../../migrations/0001_catalog.sql'), 'utf8');
  const check = /state text not null check \(state in \(([^)]*)\)/.exec(migration)![1]!;
  const ofTable = [...check.matchAll(/'(\w+)'/g)].map((m) => m[1]!).sort();
  expect([...uploadMachine.states].sort()).toEqual(ofTable);
  expect(ofTable).toEqual(blueprintState.options.filter((s) => s !== 'validating').sort());
});

it('fails from every state that is not an end', () => {
  for (const state of uploadMachine.states.filter((s) => !uploadMachine.isTerminal(s))) {
    expect(
      Object.values(uploadMachine.on[state]).some(
        (to) => to !== undefined && uploadMachine.isTerminal(to) && to !== 'uploaded',
      ),
    ).toBe(true);
  }
});
