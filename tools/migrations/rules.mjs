// Rules of migrations. `expand`: the previous release keeps running without disturbance, while the file is applied and
// afterwards. `contract`: the file removes or tightens something that the previous release no longer uses, or holds a long lock.
import { atTopLevel, markOf, statementsOf } from './statements.mjs';

/**
 * Tables whose size does not depend on the use of a manager: a lock on them is short. Every other table that a file did not
 * create itself counts as large.
 */
export const SMALL = {
  catalog: ['cache_key'],
  'cluster-status': ['config', 'instances', 'license', 'maintenance', 'managers', 'provider_context'],
  deployments: ['row_counts'],
  executions: ['event_looks', 'row_counts', 'workers'],
  identity: ['former_tenants', 'tenant_quotas', 'tenants'],
  secrets: [],
};

const NAME = `(?:only )?(?:if (?:not )?exists )?"?([a-z_][a-z0-9_]*)"?`;
const re = (source) => new RegExp(source.replace('NAME', NAME));

/**
 * Returns the objects that `statements` create: kind and name. Nobody else can use them yet, so the rest of the file may change
 * them.
 */
function createdIn(statements) {
  const made = new Set();
  for (const { text } of statements) {
    const found = re(
      '^create (?:or replace )?(?:unique |unlogged )?(table|index|function|trigger|type|view) (?:concurrently )?NAME',
    ).exec(text);
    if (found) made.add(`${found[1]} ${found[2]}`);
  }
  return made;
}

/** Whether an earlier, validated check guarantees `column is not null`, so that PostgreSQL need not scan the rows. */
function hasValidatedCheck(before, table, column) {
  return before.some(({ text }) => {
    const added = re(
      '^alter table NAME add constraint ([a-z0-9_]+) check \\(\\(?"?([a-z0-9_]+)"? is not null',
    ).exec(text);
    if (added?.[1] !== table || added[3] !== column) return false;
    return before.some((s) => s.text === `alter table ${table} validate constraint ${added[2]}`);
  });
}

const VOLATILE =
  /default [^,]*\b(gen_random_uuid|random|clock_timestamp|nextval|uuidv7)\b|generated (always|by default) as/;

/** Returns the effect of an added column on the previous release, or on the table; null: none. */
function judgeColumn(action, isLarge) {
  if (/\bnot null\b/.test(action) && !/\bdefault\b|\bgenerated\b/.test(action))
    return 'a new column is `not null` without a default: inserts of the release before fail';
  if (isLarge && VOLATILE.test(action)) return 'the new column rewrites the large table under a lock';
  if (isLarge && /\b(unique|primary key|check)\b/.test(action))
    return 'the constraint of the new column is checked against the large table under a lock';
  return null;
}

function judgeConstraint(action, isLarge) {
  if (!isLarge) return null;
  if (/\b(primary key|unique|exclude)\b/.test(action) && !/\busing index\b/.test(action))
    return 'the index of the constraint is built under a lock: build it concurrently, then add it `using index`';
  if (/\b(check|foreign key)\b/.test(action) && !/\bnot valid\b/.test(action))
    return 'the constraint is checked under a lock: add it `not valid`, then validate it';
  return null;
}

/** Judges one action of `alter table`. */
function judgeAction(action, { table, isLarge, before }) {
  if (/^drop\b/.test(action) || /^alter (column )?\S+ drop\b/.test(action)) return `drops: ${action}`;
  if (/^rename\b/.test(action)) return `renames: ${action}`;
  if (/^alter (column )?\S+ (set data )?type\b/.test(action)) return `changes a type: ${action}`;
  const strict = /^alter (?:column )?"?([a-z0-9_]+)"? set not null$/.exec(action);
  if (strict && !hasValidatedCheck(before, table, strict[1]))
    return `\`set not null\` without a validated check (${strict[1]} is not null) before it`;
  if (/^add (constraint|primary|unique|check|foreign|exclude)\b/.test(action))
    return judgeConstraint(action, isLarge);
  if (/^add\b/.test(action)) return judgeColumn(action, isLarge);
  return null;
}

/** Beginnings of statements that hold a long lock, or remove or rewrite rows. */
const LONG = [
  [/^(cluster|vacuum|lock table|truncate|reindex (?!.*concurrently))/, () => 'holds a long lock'],
  [re('^update NAME'), (table) => `rewrites rows of the large table ${table}: let a loop do it in batches`],
  [
    re('^delete from NAME'),
    (table) => `deletes rows of the large table ${table}: let a loop do it in batches`,
  ],
];

function judgeStatement(statement, { made, isLarge, before }) {
  const { text } = statement;
  const dropped = re('^drop (table|index|function|trigger|type|view|[a-z]+) (?:concurrently )?NAME').exec(
    text,
  );
  if (dropped) return made.has(`${dropped[1]} ${dropped[2]}`) ? [] : [`drops: ${text.slice(0, 80)}`];
  const table = re('^alter table NAME (.*)$').exec(text);
  if (table) {
    if (made.has(`table ${table[1]}`)) return [];
    const about = { table: table[1], isLarge: isLarge(table[1]), before };
    return atTopLevel(table[2]).flatMap((action) => judgeAction(action, about) ?? []);
  }
  if (/^alter \S+ .*\brename\b/.test(text)) return [`renames: ${text.slice(0, 80)}`];
  const index = re('^create (?:unique )?index (concurrently )?(?:if not exists )?\\S+ on NAME').exec(text);
  if (index)
    return index[1] || !isLarge(index[2])
      ? []
      : [`builds an index on the large table ${index[2]} under a lock`];
  if (/^do\b/.test(text)) return ['has a `do` block, which this lint cannot read'];
  for (const [pattern, say] of LONG) {
    const found = pattern.exec(text);
    if (
      found &&
      (found[1] === undefined || /^(cluster|vacuum|lock|truncate|reindex)/.test(text) || isLarge(found[1]))
    )
      return [say(found[1])];
  }
  return [];
}

/**
 * Judges a file without a transaction: it must have exactly one statement, of a kind that PostgreSQL runs only outside of
 * transactions. It may be restarted after a crash.
 */
function judgeTransaction(mark, statements) {
  const concurrent = statements.filter(({ text }) => /^(create|drop|reindex)\b.*\bconcurrently\b/.test(text));
  if (mark.isWithoutTransaction && (statements.length !== 1 || concurrent.length !== 1))
    return [
      {
        line: 1,
        says: 'a file without transaction holds exactly one `create index concurrently` or the like',
      },
    ];
  if (mark.isWithoutTransaction) return [];
  return concurrent.map(({ line }) => ({
    line,
    says: '`concurrently` needs the mark `, without transaction`',
  }));
}

/**
 * Returns the problems of a migration: `[{ line, says }]`. `before`: texts of the earlier files of the same service. `small`: its
 * tables on which a lock does not matter.
 */
export function judgeMigration(text, { before = [], small = [] } = {}) {
  const mark = markOf(text);
  if (mark === null)
    return [{ line: 1, says: 'the first line must be `-- expand` or `-- contract: <why this is safe>`' }];
  const statements = statementsOf(text);
  const earlier = before.flatMap(statementsOf);
  const found = statements.flatMap((statement, at) => {
    const made = createdIn(statements.slice(0, at));
    const isLarge = (table) => !small.includes(table) && !made.has(`table ${table}`);
    const about = { made, isLarge, before: [...earlier, ...statements.slice(0, at)] };
    return judgeStatement(statement, about).map((says) => ({ line: statement.line, says }));
  });
  const problems = judgeTransaction(mark, statements);
  if (mark.kind === 'expand') return [...problems, ...found];
  if (mark.reason === '') problems.push({ line: 1, says: '`-- contract: ` must say why the file is safe' });
  if (found.length === 0)
    problems.push({ line: 1, says: 'nothing here needs a contract: mark the file `-- expand`' });
  return problems;
}
