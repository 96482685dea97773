import type { Ports } from '../../ports';
import { endLeasesOf } from '../store/agent-tasks.sql';

/**
 * Takes back what a revoked agent had under way: nobody can report it any more, and its executions would wait for the whole grace of
 * agents. The operations run again when a new agent comes, or fail as those of an agent that does not come. Repeating is harmless.
 */
export async function takeFromAgent(
  { db, log }: Pick<Ports, 'db' | 'log'>,
  { agent, revokedAt }: { agent: string; revokedAt: string },
): Promise<void> {
  const operations = await endLeasesOf(db.query, agent, revokedAt);
  if (operations > 0) log.warn({ agent, operations }, 'an agent was revoked with operations under way');
}
