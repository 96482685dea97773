import { type Cli, command } from '../layer/define';

/** `baton status`, `baton version`, `baton ok`. */
export function statusCommands(cli: Cli): void {
  command(cli, cli.program, {
    name: 'status',
    about: 'status of the manager and its services; fails when it is not OK',
    uses: ['getStatus'],
    isWatched: true,
    run: async ({ client, out }) => {
      const status = await client.call('getStatus');
      if (out.isMachine) out.record(status);
      else {
        const rows = Object.entries(status.services).map(([service, { status: state }]) => ({
          service,
          status: state,
        }));
        out.table(rows, ['service', 'status']);
        out.say(`manager: ${status.status}`);
      }
      return status.status === 'OK' ? 0 : 1;
    },
  });
  command(cli, cli.program, {
    name: 'version',
    about: 'version of the manager; `baton --version` is that of this program',
    uses: ['getVersion'],
    run: async ({ client, out }) => out.record(await client.call('getVersion')),
  });
  command(cli, cli.program, {
    name: 'ok',
    about: 'ask as load balancers do; needs no credentials',
    uses: ['getOk'],
    run: async ({ client, out }) => {
      const answer = await client.call('getOk');
      out.done(String(answer), { answer });
    },
  });
}
