// The lint of migrations (tools/lint-migrations.mjs) accepts changes that the previous release can work with, and refuses all
// others.
import { judgeMigration } from '../../tools/migrations/rules.mjs';
import { markOf, statementsOf } from '../../tools/migrations/statements.mjs';

const small = ['settings'];
/** Returns the problems that the lint finds in statements of a file with the mark `-- expand`. */
const expand = (sql: string, before: string[] = []): string =>
  judgeMigration(`-- expand\n${sql}`, { before, small })
    .map((problem) => problem.says)
    .join('\n');

test.each([
  ['a new table with an index', 'create table t (id int primary key); create index t_id on t (id);'],
  ['a new table that is filled', 'create table t (id int); insert into t select 1; update t set id = 2;'],
  ['a column without a value', 'alter table t add column note text;'],
  [
    'a column with a default',
    `alter table t add column n int not null default 0, add column kind text default 'a';`,
  ],
  ['a check that is validated later', 'alter table t add constraint c check (n > 0) not valid;'],
  ['the validation', 'alter table t validate constraint c;'],
  ['an index on a small table', 'create index settings_name on settings (name);'],
  [
    'a function in place of one of the same form',
    'create or replace function f() returns int language sql as $$ drop $$;',
  ],
  ['words in comments and texts', `-- drop table t;\n/* rename */ comment on table t is 'drop; rename';`],
  ['a drop of what the file made', 'create index x on settings (a); drop index x;'],
  ['settings of a column', 'alter table t alter column a set default 1, alter b set statistics 0;'],
])('expand: accepts %s', (_name, sql) => {
  expect(expand(sql)).toBe('');
});

test.each([
  ['a table goes', 'drop table if exists t;', 'drops'],
  ['a column goes', 'alter table t add column b int, drop column a;', 'drops: drop column a'],
  ['a default goes', 'alter table t alter column a drop default;', 'drops'],
  ['an index goes', 'drop index t_a;', 'drops'],
  [
    'a function goes and comes again',
    'drop function f(int); create function f(int, int) returns int;',
    'drops',
  ],
  ['a column is renamed', 'alter table t rename column a to b;', 'renames'],
  ['a function is renamed', 'alter function f(int) rename to g;', 'renames'],
  ['a type changes', 'alter table t alter column a type bigint using a::bigint;', 'changes a type'],
  ['a type changes, at length', 'alter table only t alter a set data type text;', 'changes a type'],
  ['a column needs a value', 'alter table t add column a int not null;', 'without a default'],
  ['the same on a small table', 'alter table settings add a int not null;', 'without a default'],
  [
    'a column with another value in each row',
    'alter table t add column a uuid default gen_random_uuid();',
    'rewrites',
  ],
  ['a numbered column', 'alter table t add column a bigint generated always as identity;', 'rewrites'],
  ['a unique column', 'alter table t add column a int unique;', 'under a lock'],
  ['a check under a lock', 'alter table t add constraint c check (a > 0);', 'not valid'],
  ['a foreign key under a lock', 'alter table t add foreign key (a) references s (a);', 'not valid'],
  ['a key under a lock', 'alter table t add primary key (a);', 'using index'],
  ['an index under a lock', 'create unique index t_a on t (a);', 'under a lock'],
  ['a lock', 'lock table t in exclusive mode;', 'long lock'],
  ['a table is written anew', 'cluster t using t_a;', 'long lock'],
  ['all rows change', 'update t set a = 1;', 'in batches'],
  ['rows go', 'delete from t where a = 1;', 'in batches'],
  ['rows go at once', 'truncate t;', 'long lock'],
  ['a block', `do $$ begin execute 'drop table t'; end $$;`, 'cannot read'],
  ['a column must have a value', 'alter table t alter column a set not null;', 'without a validated check'],
  ['concurrently inside a transaction', 'create index concurrently t_a on t (a);', 'without transaction'],
])('expand: refuses that %s', (_name, sql, says) => {
  expect(expand(sql)).toContain(says);
});

test('`set not null` is accepted behind a validated check of the same column, in this file or an earlier one', () => {
  const add = 'alter table t add constraint a_there check (a is not null) not valid;';
  const validate = 'alter table t validate constraint a_there;';
  const strict = 'alter table t alter column a set not null;';
  expect(expand(add + validate + strict)).toBe('');
  expect(expand(strict, [`-- expand\n${add}`, `-- expand\n${validate}`])).toBe('');
  expect(expand(add + strict)).toContain('without a validated check');
  expect(expand(`${add + validate}alter table t alter column b set not null;`)).toContain(
    'without a validated check',
  );
});

test('a file outside a transaction is one statement that needs it', () => {
  const judged = (sql: string) => judgeMigration(`-- expand, without transaction\n${sql}`);
  expect(judged('create index concurrently t_a on t (a);')).toEqual([]);
  expect(judged('create index concurrently a on t (a); create index concurrently b on t (b);')).toHaveLength(
    1,
  );
  expect(judged('create table t ();')).toHaveLength(1);
});

test('a contract says why, and holds something that needs it', () => {
  const drop = '\n\ndrop table t;';
  expect(judgeMigration(`-- contract: nothing reads t since 0.3.0${drop}`)).toEqual([]);
  expect(judgeMigration(`-- contract${drop}`)).toMatchObject([
    { line: 1, says: expect.stringContaining('why') },
  ]);
  expect(judgeMigration('-- contract: why\ncreate table t ();')).toMatchObject([
    { says: expect.stringContaining('-- expand') },
  ]);
});

test('a file without a mark is refused', () => {
  expect(judgeMigration('create table t ();')).toHaveLength(1);
  expect(judgeMigration('-- Expand\ncreate table t ();')).toHaveLength(1);
  expect(markOf('-- contract, without transaction: old\n')).toEqual({
    kind: 'contract',
    isWithoutTransaction: true,
    reason: 'old',
  });
});

test('a problem has the line of its statement', () => {
  expect(statementsOf("a 'b\n;' -- c;\n;\n\n  d $x$ ;\n; $x$ e;")).toEqual([
    { text: "a ''", line: 1 },
    { text: "d '' e", line: 5 },
  ]);
  expect(judgeMigration('-- expand\n\ncreate table s ();\n\n  drop table t;')).toMatchObject([{ line: 5 }]);
});
