import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import {
  type AuditScope,
  auditScopeKey,
  type ChangeMade,
  changeMade,
  type TenantScope,
  tenantScopeKey,
} from '@baton/contracts';
import { isAppError, silentLog } from '@baton/kernel';
import { setFakeNow, type TestDatabase, testDatabase, testSignals } from '@baton/testkit';
import { sql } from 'kysely';
import { samples } from '../../test-prisma/samples';
import { createDb, type Db, isForeignKeyViolation, isUniqueViolation, outbox } from '../index';

interface Tables {
  samples: { id: string; number: number };
  notes: { tenant: string; id: string; text: string };
  outbox: { envelope: unknown };
}

let database: TestDatabase;
let db: Db<Tables>;

beforeAll(async () => {
  const dir = join(__dirname, '../../test-prisma/migrations');
  database = await testDatabase({ migrations: [{ schema: 'samples', dir }] });
  db = createDb({ url: database.url, schema: 'samples', applicationName: 'test', log: silentLog });
  await db.requireRowSecurity();
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  await sql`truncate notes, samples, outbox`.execute(db.query);
});

const ids = async () =>
  (await db.query.selectFrom('samples').select('id').orderBy('id').execute()).map(({ id }) => id);
const caught = (promise: Promise<unknown>) => promise.then(() => null).catch((error) => error);

describe('the transaction is that of db.tx', () => {
  test('rows of Prisma, of Kysely and of the outbox are there together, or not at all', async () => {
    const write = (isBad: boolean) =>
      db.tx(async (tx) => {
        await samples.over(tx, (p) => p.sample.create({ data: { id: 'p' } }));
        await tx.insertInto('samples').values({ id: 'k', number: 1 }).execute();
        // Each sees the uncommitted row that the other wrote.
        expect(await samples.over(tx, (p) => p.sample.count())).toBe(2);
        await outbox.append(tx, changeMade, { tenant: '', key: 'k' }, change);
        if (isBad) throw new Error('no');
      });
    await expect(write(true)).rejects.toThrow('no');
    expect(await ids()).toEqual([]);
    await write(false);
    expect(await ids()).toEqual(['k', 'p']);
    expect(await db.query.selectFrom('outbox').selectAll().execute()).toHaveLength(1);
  });

  test('a write of Prisma carries the entry that the audit log waits for', async () => {
    const scope: AuditScope = {
      isOpen: true,
      isRecorded: false,
      schema: 'samples',
      tenant: 't',
      entry: () => change,
    };
    await storageOf<AuditScope>(auditScopeKey).run(scope, () =>
      db.tx((tx) => samples.over(tx, (p) => p.sample.create({ data: { id: 'p' } }))),
    );
    expect(scope.isRecorded).toBe(true);
    expect(await db.query.selectFrom('outbox').selectAll().execute()).toHaveLength(1);
  });

  test('settings of the transaction hold for statements of Prisma', async () => {
    await setFakeNow(db.pool, '2030-01-01T00:00:00.000Z');
    try {
      const row = await db.tx((tx) => samples.over(tx, (p) => p.sample.create({ data: { id: 'p' } })));
      expect(row.at).toEqual(new Date('2030-01-01T00:00:00.000Z'));
    } finally {
      await setFakeNow(db.pool, null);
    }
    const error = await caught(
      db.tx(async (tx) => {
        await sql`set local transaction_read_only = on`.execute(tx);
        await samples.over(tx, (p) => p.sample.create({ data: { id: 'q' } }));
      }),
    );
    expect(isAppError(error, 'service_unavailable_error')).toBe(true);
  });

  test('a transaction of Prisma inside is refused', async () => {
    const nested = db.tx((tx) =>
      samples.over(tx, async (p) => {
        const whole = p as unknown as { $transaction(run: () => Promise<void>): Promise<void> };
        await p.sample.create({ data: { id: 'p' } });
        await whole.$transaction(async () => undefined);
      }),
    );
    await expect(nested).rejects.toThrow('Nested transactions are not supported');
    expect(await ids()).toEqual([]);
  });

  test('tables that are used after their transaction are refused', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: kept against the rules.
    let kept: any;
    await db.tx((tx) =>
      samples.over(tx, async (p) => {
        kept = p;
      }),
    );
    await expect(kept.sample.count()).rejects.toThrow('Transaction already closed');
  });

  test('deadlocked transactions are run again, and both succeed', async () => {
    await db.tx((tx) => samples.over(tx, (p) => p.sample.createMany({ data: [{ id: 'a' }, { id: 'b' }] })));
    const signals = testSignals();
    let runs = 0;
    const add = async (first: string, second: string): Promise<void> => {
      let isFirstRun = true;
      await db.tx((tx) =>
        samples.over(tx, async (p) => {
          runs++;
          await p.sample.update({ where: { id: first }, data: { number: { increment: 1 } } });
          void signals.of(first).reached();
          if (isFirstRun) await signals.of(second).wait();
          isFirstRun = false;
          await p.sample.update({ where: { id: second }, data: { number: { increment: 1 } } });
        }),
      );
    };
    await Promise.all([add('a', 'b'), add('b', 'a')]);
    // PostgreSQL ends one of the two, or both when both look for deadlocks at the same moment.
    expect([3, 4]).toContain(runs);
    expect(await samples.over(db.query, (p) => p.sample.aggregate({ _sum: { number: true } }))).toEqual({
      _sum: { number: 4n },
    });
  }, 15_000);
});

describe('outside of a transaction', () => {
  test('reads go through the pool; writes, whose statements may be several, are refused', async () => {
    expect(await samples.over(db.query, (p) => p.sample.findMany())).toEqual([]);
    await expect(samples.over(db.query, (p) => p.sample.create({ data: { id: 'p' } }))).rejects.toThrow(
      'db.tx only',
    );
    expect(await ids()).toEqual([]);
  });

  test('db.query inside db.tx is refused as with Kysely', async () => {
    await expect(db.tx(() => samples.over(db.query, (p) => p.sample.findMany()))).rejects.toThrow('pass tx');
  });
});

describe('row security', () => {
  const as = <T>(tenant: string, work: () => Promise<T>): Promise<T> =>
    storageOf<TenantScope>(tenantScopeKey).run(
      { isOpen: true, schema: 'samples', tenant, reach: 'own' },
      work,
    );
  const note = (tenant: string) => ({ tenant, id: 'n', text: `of ${tenant}` });

  beforeEach(() =>
    db.tx((tx) => samples.over(tx, (p) => p.note.createMany({ data: [note('one'), note('two')] }))),
  );

  test('requests see and change rows of their tenant alone', async () => {
    expect(await samples.over(db.query, (p) => p.note.count())).toBe(2);
    const seen = await as('one', () => samples.over(db.query, (p) => p.note.findMany()));
    expect(seen.map(({ text }) => text)).toEqual(['of one']);
    const changed = await as('one', () =>
      db.tx((tx) => samples.over(tx, (p) => p.note.deleteMany({ where: { id: 'n' } }))),
    );
    expect(changed.count).toBe(1);
    const refused = as('one', () =>
      db.tx((tx) => samples.over(tx, (p) => p.note.create({ data: { ...note('two'), id: 'x', text: 'x' } }))),
    );
    await expect(refused).rejects.toThrow('row-level security');
  });

  test('questions of several tenants in one turn are neither put together nor sent as one of them', async () => {
    const all = ['one', 'two', 'one', 'three', 'two'];
    const found = await Promise.all(
      all.map((tenant) =>
        as(tenant, async () => ({
          tenant,
          own: await samples.over(db.query, (p) =>
            p.note.findUnique({ where: { tenant_id: { tenant, id: 'n' } } }),
          ),
          seen: await samples.over(db.query, (p) => p.note.findMany()),
        })),
      ),
    );
    for (const { tenant, own, seen } of found) {
      const expected = tenant === 'three' ? [] : [`of ${tenant}`];
      expect(seen.map(({ text }) => text)).toEqual(expected);
      expect(own?.text).toBe(expected[0]);
    }
  });
});

describe('errors are those of the database', () => {
  test('a doubled key and a reference to nothing are named by their constraints', async () => {
    const note = { tenant: 't', id: 'a', text: 'same' };
    const twice = await caught(
      db.tx((tx) => samples.over(tx, (p) => p.note.createMany({ data: [note, { ...note, id: 'b' }] }))),
    );
    expect(isUniqueViolation(twice, 'notes_text_key')).toBe(true);
    const nowhere = await caught(
      db.tx((tx) => samples.over(tx, (p) => p.note.create({ data: { ...note, sample: 'none' } }))),
    );
    expect(isForeignKeyViolation(nowhere, 'notes_sample_fkey')).toBe(true);
  });

  test('a lost connection and an unstorable text are what Kysely makes of them', async () => {
    const lost = await caught(
      db.tx(async (tx) => {
        await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx).catch(() => undefined);
        await samples.over(tx, (p) => p.sample.count());
      }),
    );
    expect(isAppError(lost, 'service_unavailable_error')).toBe(true);
    const unstorable = await caught(
      db.tx((tx) => samples.over(tx, (p) => p.sample.create({ data: { id: 'a\u0000b' } }))),
    );
    expect(isAppError(unstorable, 'bad_parameters_error')).toBe(true);
  });

  test('what Prisma refuses by itself is told by Prisma', async () => {
    const error = await caught(samples.over(db.query, (p) => p.sample.findFirstOrThrow()));
    expect(error.code).toBe('P2025');
  });
});

const change: ChangeMade = {
  refTable: 'samples',
  refId: 'p',
  refIdentifier: {},
  operation: 'create',
  username: 'me',
  executionId: '',
  requestId: 'request',
  route: 'putSample',
};

/** packages/http normally creates these storages; here it is not loaded. */
const storageOf = <T>(key: symbol): AsyncLocalStorage<T> =>
  ((globalThis as unknown as Record<symbol, AsyncLocalStorage<T>>)[key] ??= new AsyncLocalStorage<T>());
