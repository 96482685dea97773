import { control, held, type Row } from '../row';

const PATHS = [
  '/api/docs',
  '/api/docs/swagger-ui.css',
  '/api/docs/swagger-ui-bundle.js',
  '/api/docs/%2e%2e/x',
];

export const row: Row = {
  name: '11',
  title: 'pages of the documentation, without a login',
  modes: ['standalone', 'services'],
  async run({ ask, fleet }) {
    control((await ask('/healthz')).status === 200, 'it did not live before');
    const statuses = [];
    for (const path of PATHS) statuses.push((await ask(path)).status);
    const isAlive = (await ask('/healthz')).status === 200;
    const ended = [...fleet.processes.values()].flatMap((one) => one.unexpectedEnd() ?? []);
    const isHeld = isAlive && ended.length === 0 && statuses.slice(0, 3).every((status) => status === 200);
    return held(isHeld, `${statuses.join(', ')}; ${ended.join(', ') || 'it lives'}`);
  },
};
