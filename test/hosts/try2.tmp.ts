import { startFleet } from '../harness/fleet';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
void (async () => {
  const f = await startFleet({ mode: 'standalone', listen: '127.0.0.1' });
  try {
    for (let i = 0; i < 4; i++) { await pause(2000);
    console.log(await (await fetch(f.baseUrl + '/agent/v1/packages')).text()); }
    console.log(readFileSync(f.dir + '/logs/standalone.log', 'utf8').split('\n').slice(-30).map((l) => l.slice(0, 300)).join('\n'));
  } finally { await f.stop(); }
})();
