import { saying } from '../rig';
import { control, held, type Row } from '../row';

const SECRETS = 'DATABASE_URL|AMQP_URL|REDIS_URL|BATON_[A-Z_]*(KEY|TOKEN|PASSWORD)|PLANTED';

/** The script reads the environment of every process that it can see. A text planted in its own environment is the control. */
export const row: Row = {
  name: '1',
  title: 'a script reads /proc/<ancestor>/environ',
  modes: ['standalone', 'ordinary user', 'services'],
  async run({ operations }) {
    const read = `cat /proc/[0-9]*/environ 2>/dev/null | tr "\\\\0" "\\\\n" | grep -aoE "^(${SECRETS})=" | sort -u`;
    const { printed } = await operations({
      environ: `#!/bin/sh\n${saying('environ')}export PLANTED=seen\nsh -c '${read}' | while read name; do say "$name"; done\n`,
    });
    const found = printed.environ!.split('\n');
    control(found.includes('PLANTED='), `the script saw not even itself: ${printed.environ}`);
    const others = found.filter((name) => name !== 'PLANTED=');
    return held(others.length === 0, others.length === 0 ? 'nothing but its own' : `got ${others}`);
  },
};
