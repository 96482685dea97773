import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { control, held, type Row } from '../row';

export const row: Row = {
  name: '12',
  title: 'a second start with the same home, also one refused for its port',
  modes: ['standalone'],
  async run({ fleet, ask, dist }) {
    control((await ask('/readyz')).status === 200, 'the first was not ready before');
    const ends = [0, Number(new URL(fleet.baseUrl).port)].map((port) =>
      spawnSync(process.execPath, [join(dist, 'apps/standalone/main.js')], {
        encoding: 'utf8',
        timeout: 60_000,
        env: { PATH: process.env.PATH, BATON_HOME: join(fleet.dir, 'home'), BATON_PORT: String(port) },
      }),
    );
    const isTold = ends.every(
      ({ status, stderr }) => status === 1 && /already runs on .* process \d+ since/.test(stderr),
    );
    const { status } = await ask('/readyz');
    return held(
      isTold && status === 200,
      `ended with ${ends.map((one) => one.status)}; the first answers ${status}`,
    );
  },
};
