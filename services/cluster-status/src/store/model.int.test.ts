import { join } from 'node:path';
import { parseSchema, readTables, testDatabase } from '@baton/testkit';

test('prisma/schema.prisma says what the migrations make, no more and no less', async () => {
  const root = join(__dirname, '../..');
  const database = await testDatabase({
    migrations: [{ schema: 'cluster_status', dir: join(root, 'migrations') }],
  });
  try {
    expect(parseSchema(join(root, 'prisma/schema.prisma'))).toEqual(
      await readTables(database.url, 'cluster_status'),
    );
  } finally {
    await database.drop();
  }
});
