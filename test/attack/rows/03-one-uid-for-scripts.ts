import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFleet } from '../../harness/fleet';
import { adminClient, archiveOf, call, follow, upload } from '../../harness/session';
import { control, held, type Row, unplayed } from '../row';

const UID = 23_456;
const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  n:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: who.sh, max_retries: 0}
`;

export const row: Row = {
  name: '3',
  title: 'scripts of all tenants run as one uid',
  modes: ['standalone'],
  async run({ dist, operations }) {
    if (process.getuid?.() !== 0) unplayed('only root starts scripts as somebody else');
    const { printed } = await operations({ who: '#!/bin/sh\necho "@who $(id -u)"\n' });
    control(
      /^\d+$/.test(printed.who!) && printed.who !== String(UID),
      `without it scripts run as ${printed.who}`,
    );
    const fleet = await startFleet({
      mode: 'standalone',
      dist,
      env: { BATON_WORKER_SCRIPT_UID: String(UID) },
    });
    try {
      const admin = adminClient(fleet);
      const folder = join(fleet.dir, 'who');
      mkdirSync(folder);
      writeFileSync(join(folder, 'blueprint.yaml'), BLUEPRINT);
      writeFileSync(
        join(folder, 'who.sh'),
        '#!/bin/sh\necho "uid $(id -u) in $PWD"; : > written && ls -l written\n',
      );
      await upload(admin, 'who', archiveOf(folder));
      await call(admin, 'createDeployment', { id: 'who' }, { blueprint_id: 'who' });
      const { status, messages } = await follow(admin, 'who', 'install');
      const [, uid] = /uid (\d+) in/.exec(messages.join('\n')) ?? [];
      return held(
        status === 'terminated' && uid === String(UID),
        `${status}, ran as ${uid ?? 'nobody: it did not start'}`,
      );
    } finally {
      await fleet.stop();
    }
  },
};
