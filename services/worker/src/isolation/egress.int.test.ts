import { type AddressInfo, createServer, type Server } from 'node:net';
import { executionsRpc } from '@baton/contracts';
import { eventually } from '@baton/testkit';
import { createWorkerRig, type WorkerRig } from '../testing/worker-rig';

/** User ids that no other worker on this machine, and no other test, uses. */
let firstUid = 1_500_000 + (process.pid % 10_000) * 100;
let rig: WorkerRig;
const servers: Server[] = [];
beforeEach(async () => {
  rig = await createWorkerRig();
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await rig.close();
});

it.each(['restricted', 'none', 'open'])(
  'an operation has its ctx, and services of the machine as %s says',
  async (mode) => {
    const [other, api] = [createServer(), createServer()];
    servers.push(other, api);
    firstUid += 10;
    for (const server of [other, api])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const [otherPort, apiPort] = [other, api].map((server) => (server.address() as AddressInfo).port);
    await rig.startWorker({
      BATON_WORKER_ISOLATION: 'bubblewrap',
      BATON_WORKER_UID_RANGE: `${firstUid}-${firstUid + 9}`,
      BATON_WORKER_EGRESS: mode,
      BATON_WORKER_MANAGER_URL: `http://127.0.0.1:${apiPort}`,
    });
    const connect = (name: string, port: number | undefined): string =>
      `timeout 4 bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>/dev/null && ctx logger info "${name} open" || ctx logger info "${name} refused"`;
    const task = rig.peer.addTask({
      inputs: {
        script_source: `#!/bin/bash\n${connect('other', otherPort)}\n${connect('api', apiPort)}\nctx returns "$(ctx instance id)"`,
      },
    });
    await rig.wake(task);
    await eventually(() => rig.peer.ended(), { deadlineMs: 30_000 });
    expect(task.outcomes).toMatchObject([{ kind: executionsRpc.OutcomeKind.OUTCOME_KIND_SUCCEEDED }]);
    const said = rig.peer.events.map((event) => event.message);
    expect(said).toContain(`other ${mode === 'open' ? 'open' : 'refused'}`);
    expect(said).toContain(`api ${mode === 'none' ? 'refused' : 'open'}`);
  },
  60_000,
);

it.each(['10.0.0.0/33', 'localhost:80'])('refuses to start with %s among what is allowed', async (text) => {
  await expect(rig.startWorker({ BATON_WORKER_EGRESS_ALLOW: text })).rejects.toThrow(
    /BATON_WORKER_EGRESS_ALLOW: .* must be an address or a network/,
  );
});
