import { connect, type Socket } from 'node:net';
import { tgz } from '../../contract/world';
import { upload } from '../../harness/session';
import { control, held, type Login, type Rig, type Row } from '../row';

const BLUEPRINTS = 14;
const DESCRIPTION = 100_000;
/** Number of connections that request the list and read nothing of the response. */
const UNREAD = 40;
const LIMIT_MS = 20_000;

const blueprint = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
description: ${'x'.repeat(DESCRIPTION)}
node_templates: {n: {type: cloudify.nodes.Root}}
`;

function unread({ fleet }: Rig, { name, password, tenant }: Login): Socket {
  const { hostname, port } = new URL(fleet.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.pause();
  const basic = Buffer.from(`${name}:${password}`).toString('base64');
  const ask = `GET /api/v1/blueprints HTTP/1.1\r\nHost: x\r\nTenant: ${tenant}\r\nAuthorization: Basic ${basic}\r\n\r\n`;
  // Requests more data than the buffers of the system hold.
  socket.write(ask.repeat(8));
  return socket;
}

export const row: Row = {
  name: '7',
  title: 'GET /api/v1/blueprints with a list of more than 1.4 MB, read and not read',
  modes: ['standalone', 'services'],
  async run(rig) {
    const { ask, user, victim, clientOf } = rig;
    const archive = tgz({ 'blueprint.yaml': blueprint });
    for (let i = 0; i < BLUEPRINTS; i++) await upload(clientOf(user), `long-${i}`, archive);
    const paged = await ask('/api/v3.1/blueprints?_size=100', user);
    control(paged.text.length > BLUEPRINTS * DESCRIPTION, `the list has ${paged.text.length} bytes`);
    const list = () =>
      ask('/api/v1/blueprints', user, { signal: AbortSignal.timeout(LIMIT_MS) }).catch(() => ({
        status: 0,
        text: '[]',
      }));
    const whole = await list();
    const isWhole = whole.status === 200 && JSON.parse(whole.text).length >= BLUEPRINTS;
    const sockets = Array.from({ length: UNREAD }, () => unread(rig, user));
    try {
      const others: number[] = [];
      for (let i = 0; i < 20; i++) others.push((await ask('/api/v1/blueprints', victim)).status);
      const again = await list();
      const isFine = isWhole && others.every((status) => status === 200) && again.status === 200;
      const wrong = others.filter((status) => status !== 200).length;
      return held(
        isFine,
        `answered ${whole.status} with ${whole.text.length} bytes; beside ${UNREAD} unread ones ${again.status}, ${wrong} of others failed`,
      );
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  },
};
