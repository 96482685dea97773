// Every endpoint row of the specification: one successful call with the fields that the document lists, and one refused call.
// Rows come from the documents (docs/spec-coverage.md), cases from cases.ts; needs the bundles of `npm run build`.

import { caseKey, specCases } from './cases';
import { specFields } from './fields';
import type { SpecCase } from './spec-case';
import { isOfRow, routeOfRow } from './spec-routes';
import rows from './spec-rows.json';
import { startWorld, type World } from './world';

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 120_000);
afterAll(async () => await world?.stop(), 60_000);

test('each row has a case, and each case a row', () => {
  expect(Object.keys(specCases).sort()).toEqual([...new Set(rows.map(caseKey))].sort());
});

const served = rows.filter((row) => routeOfRow(row) !== undefined);
describe.each(served.map((row) => [caseKey(row), row] as const))('%s', (key, row) => {
  const { given = [], ok, status = 200, refused, ...expected } = specCases[key]!;

  test('is served as the specification says', async () => {
    expect(isOfRow(row, ok.path)).toBe(true);
    for (const [method, sent] of given) {
      const before = await world.send('v3.1', method, sent);
      expect([sent.path, before.status < 300 ? 'ok' : before.body]).toEqual([sent.path, 'ok']);
    }
    const answer = await world.send(row.version, row.method, ok);
    expect(answer.status === status ? status : [answer.status, answer.body]).toBe(status);
    checkAnswer(answer, expected);
  }, 60_000);

  test('refuses what it must', async () => {
    const { status: wanted, code, ...sent } = refused;
    const { body, ...answer } = await world.send(row.version, row.method, sent);
    expect([answer.status, body.error_code]).toEqual([wanted, code]);
    expect(typeof body.message).toBe('string');
  });
});

function checkAnswer(
  { body, bytes }: Awaited<ReturnType<World['send']>>,
  { answer = 'object', fields }: Pick<SpecCase, 'answer' | 'fields'>,
): void {
  if (answer === 'empty') {
    expect(bytes).toBe(0);
    return;
  }
  if (answer === 'archive') {
    expect(bytes).toBeGreaterThan(50);
    return;
  }
  if (answer === 'list')
    expect(Object.keys(body.metadata.pagination).sort()).toEqual(['offset', 'size', 'total']);
  const items: object[] = answer === 'list' ? body.items : answer === 'array' ? body : [body];
  expect(items.length).toBeGreaterThan(0);
  if (fields === undefined) return;
  for (const item of items) expect(specFields[fields].filter((name) => !(name in item))).toEqual([]);
}
