/** An imported deployment says that nothing may run on it yet, and with which command that changes. */
import { createReadStream } from 'node:fs';
import { eventually } from '@baton/testkit';
import { call } from '../harness/session';
import { S71 } from '../import/importer';
import { judge } from './judge';
import type { Stage } from './stage';

const TENANT = 'imported';

export function importsPart(shared: () => Stage): void {
  let stage: Stage;
  let importId: string;

  beforeAll(async () => {
    stage = shared();
    const { client } = stage;
    const options = JSON.stringify({ tenants: { default_tenant: TENANT } });
    const made = await client.upload('createImport', { query: { options }, content: createReadStream(S71) });
    importId = made.id;
    const { report_digest } = await becomes('checked');
    await call(client, 'applyImport', { import_id: importId }, { report_digest });
    await becomes('applied');
  });
  afterEach(async () => expect(await stage.offences()).toEqual([]));

  const becomes = (state: string) =>
    eventually(
      async () => {
        const found = await call(stage.client, 'getImport', { import_id: importId });
        expect([found.state, found.error]).toEqual([state, '']);
        return found;
      },
      { deadlineMs: 30_000 },
    );

  test('a deployment in quarantine says where it comes from and how it is activated, until that is done', async () => {
    const { page, fleet, client } = stage;
    await page.goto(`${fleet.baseUrl}/ui/${TENANT}/deployments/snap-a/nodes`);
    await page.getByText('Imported from cloudify 7.1.0').waitFor();
    const command = `baton import activate ${importId} --deployment ${TENANT}/snap-a`;
    await page.getByText(command).waitFor();
    await judge(page, 'deployment-quarantine');
    await call(client, 'activateImport', { import_id: importId }, {});
    await page.reload();
    await page.getByRole('heading', { name: 'snap-a' }).waitFor();
    expect(await page.getByText(command).count()).toBe(0);
  });
}
