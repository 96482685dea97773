import type { Db } from '@baton/postgres';
import { PostgresQueryCompiler } from 'kysely';
import type { DB } from '../store/tables.gen';

export interface RecordedStatement {
  text: string;
  values: readonly unknown[];
}

/** Records the reads of a database outside of transactions. */
export function recordedReads({ query }: Pick<Db<DB>, 'query'>): {
  query: Db<DB>['query'];
  /** Returns the statements since the last call. */
  take(): RecordedStatement[];
} {
  const recorded: RecordedStatement[] = [];
  const compiler = new PostgresQueryCompiler();
  return {
    query: query.withPlugin({
      transformQuery: ({ node, queryId }) => {
        const { sql: text, parameters: values } = compiler.compileQuery(node, queryId);
        recorded.push({ text, values });
        return node;
      },
      transformResult: async ({ result }) => result,
    }),
    take: () => recorded.splice(0),
  };
}

interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** What PostgreSQL does for `statements`: how many rows it takes from tables and indexes, and the ways to them. */
export async function explained(
  { pool }: Pick<Db<DB>, 'pool'>,
  statements: readonly RecordedStatement[],
): Promise<{ rows: number; ways: string[] }> {
  let rows = 0;
  const ways = new Set<string>();
  const count = (node: PlanNode): void => {
    if (/Scan/.test(node['Node Type'])) {
      ways.add(node['Node Type']);
      // The rows of a bitmap are counted where they are taken from the table.
      if (node['Node Type'] !== 'Bitmap Index Scan')
        rows += (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    }
    node.Plans?.forEach(count);
  };
  for (const { text, values } of statements) {
    const plan = await pool.query(`explain (analyze, format json) ${text}`, [...values]);
    count(plan.rows[0]['QUERY PLAN'][0].Plan);
  }
  return { rows, ways: [...ways] };
}
