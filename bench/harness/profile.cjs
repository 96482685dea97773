// Preloaded into a manager's processes by NODE_OPTIONS: SIGUSR2 starts a CPU profile, the next SIGUSR2 writes it.
const { renameSync, writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');
const { basename, dirname, join } = require('node:path');

const folder = process.env.BENCH_PROFILE_DIR;
const main = process.argv[1] ?? '';
if (folder && main.endsWith('/main.js')) {
  let session = null;
  process.on('SIGUSR2', () => {
    if (!session) {
      session = new Session();
      session.connect();
      session.post('Profiler.enable');
      session.post('Profiler.setSamplingInterval', { interval: 500 });
      session.post('Profiler.start');
      return;
    }
    const ended = session;
    session = null;
    ended.post('Profiler.stop', (error, answer) => {
      if (error) throw error;
      const file = join(folder, `${basename(dirname(main))}-${process.pid}.cpuprofile`);
      writeFileSync(`${file}.part`, JSON.stringify(answer.profile));
      renameSync(`${file}.part`, file);
      ended.disconnect();
    });
  });
}
