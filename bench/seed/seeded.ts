import { withDatabase } from '@baton/testkit';
import { createDatabase, serverUrl } from '../harness/manager';
import type { Plan } from '../harness/report';
import { seed } from './seed';
import { fullSizes, type SeedSizes, smallSizes } from './sizes';

/** Returns the seeded database that the plan names, which is kept, or a new one. */
export async function seededDatabase(
  plan: Plan,
): Promise<{ url: string; sizes: SeedSizes; drop(): Promise<void> }> {
  const sizes = plan.isSmall ? smallSizes : fullSizes;
  if (plan.database)
    return { url: withDatabase(serverUrl(), plan.database), sizes, drop: async () => undefined };
  const database = await createDatabase();
  try {
    await seed(database.url, sizes, plan.say);
    return { ...database, sizes };
  } catch (error) {
    await database.drop();
    throw error;
  }
}
