import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import { publishRaw } from '../../harness/raw-broker';
import { call } from '../../harness/session';
import { heldOrAdmitted, type Row } from '../row';

const FORGED = {
  refTable: 'users',
  refId: 'forged',
  refIdentifier: { tenant_name: 'mallory' },
  operation: 'create',
  username: 'forged-by-a-neighbour',
  executionId: '',
  requestId: 'forged',
  route: 'createUser',
};

/** Whether the audit log contains the text. */
const isAudited = async (admin: Client, text: string): Promise<boolean> =>
  JSON.stringify(await call(admin, 'listAudit', {}, undefined, { _size: '1000' })).includes(text);

export const row: Row = {
  name: '10m',
  title: 'a neighbour at the broker says that somebody has changed something',
  modes: ['services'],
  async run({ fleet, admin }) {
    await publishRaw(fleet.namespace, 'audit.change-made.v1', FORGED, 'identity');
    // An honest change after the forged one: once the honest change is logged, the forged one would be logged as well.
    await call(admin, 'putSecret', { secret_key: 'behind-the-forged' }, { value: 'x' });
    await eventually(() => isAudited(admin, 'behind-the-forged'));
    const isBelieved = await isAudited(admin, FORGED.username);
    const happened = isBelieved ? 'it is in the audit log' : 'it is not in the audit log';
    return heldOrAdmitted(!isBelieved, happened, false);
  },
};
