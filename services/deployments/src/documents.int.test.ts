import { documentOf, putDocuments } from './store/documents.sql';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
});
afterAll(() => test.stop());

it('keeps the shared parts of equal blueprints once', async () => {
  const documents = async () => (await test.db.pool.query('select count(*) as n from documents')).rows[0].n;
  await test.create('twin1');
  const before = await documents();
  await test.create('twin2');
  expect(await documents()).toBe(before);
});

/** Makes a large document: several of them are more than is sent without asking first, and more than fits into one statement. */
const large = (name: string) => documentOf({ name, text: name.repeat(300_000) });

it('stores the documents that are missing beside those that are there, however large they are', async () => {
  const { db } = test;
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(large);
  await db.tx((tx) => putDocuments(tx, [a!, c!]));
  await db.tx((tx) => putDocuments(tx, [d!, c!, b!, a!, b!]));
  await db.tx((tx) => putDocuments(tx, [a!, b!, c!, d!]));
  const digests = [a, b, c, d].map((document) => document!.digest);
  const { rows } = await db.pool.query<{ body: string }>(
    `select body::text as body from documents where encode(digest, 'hex') = any($1) order by body->>'name'`,
    [digests],
  );
  expect(rows.map(({ body }) => body)).toEqual([a, b, c, d].map((document) => document!.text));
});

it.each([
  ['small', documentOf({ name: 'small' })],
  ['large', large('e')],
])(
  'keeps %s documents that were there from being swept until their references are committed',
  async (_, document) => {
    const { db } = test;
    await db.tx((tx) => putDocuments(tx, [document]));
    const isSweepable = async () => {
      // The lock that the sweep takes; it is released with the statement.
      const { rows } = await db.pool.query('select pg_try_advisory_xact_lock(7236101) as free');
      return rows[0].free;
    };
    await db.tx(async (tx) => {
      await putDocuments(tx, [document]);
      expect(await isSweepable()).toBe(false);
    });
    expect(await isSweepable()).toBe(true);
  },
);
