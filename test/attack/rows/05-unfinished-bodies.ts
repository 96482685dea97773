import { connect, type Socket } from 'node:net';
import { eventually } from '@baton/testkit';
import { control, held, type Login, type Rig, type Row } from '../row';

const COUNT = 1_005;
/** Number of honest requests of another user meanwhile. */
const LOOKS = 30;

const authorization = ({ name, password }: Login) =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

/** Begins a POST of `user` without sending its body; `answered` receives the status of the response. */
function begin({ fleet, user }: Rig, answered: (status: string) => void): Socket {
  const { hostname, port } = new URL(fleet.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.once('data', (bytes) => answered(bytes.toString('latin1').slice(9, 12)));
  const head = `POST /api/v3.1/executions HTTP/1.1\r\nHost: x\r\nTenant: ${user.tenant}\r\nAuthorization: ${authorization(user)}`;
  socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
  return socket;
}

export const row: Row = {
  name: '5',
  title: '1,005 POSTs with an unfinished body by one user',
  modes: ['standalone', 'services'],
  async run(rig) {
    const { ask, user, victim } = rig;
    const whole = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    const finished = await ask('/api/v3.1/executions', user, whole);
    control(finished.status === 400, `a POST that is finished is answered ${finished.status}`);
    const statuses: string[] = [];
    const sockets = Array.from({ length: COUNT }, () => begin(rig, (status) => statuses.push(status)));
    try {
      // Some requests are kept waiting, the rest is refused: by now all have arrived.
      await eventually(() => statuses.filter((status) => status === '429').length > COUNT / 2);
      const others: number[] = [];
      for (let i = 0; i < LOOKS; i++) others.push((await ask('/api/v3.1/secrets', victim)).status);
      const wrong = others.filter((status) => status !== 200);
      const refused = statuses.filter((status) => status === '429').length;
      return held(
        wrong.length === 0,
        `${refused} got 429; of ${LOOKS} of another user ${wrong.length} failed`,
      );
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  },
};
