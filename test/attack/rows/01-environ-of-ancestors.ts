import type { Row } from '../row';

/** Row 1: the script reads the environment of every process that it can see, planted text of its own included. */
export const row: Row = {
  number: 1,
  title: 'a script reads /proc/<ancestor>/environ',
  modes: ['standalone', 'services'],
  async run({ operation }) {
    const log = await operation(
      'export PLANTED=seen-by-the-script\n' +
        'sh -c \'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -E "^(DATABASE_URL|AMQP_URL|BATON_INTERNAL_KEY|BATON_SECRETS_KEY|PLANTED)=" | cut -d= -f1 | sort -u | while read name; do ctx logger info "FOUND $name"; done\'\n',
    );
    if (!log.includes('FOUND PLANTED'))
      return { isHeld: false, happened: `the script saw not even itself: ${log}` };
    const found = [...log.matchAll(/FOUND (\w+)/g)]
      .map(([, name]) => name)
      .filter((name) => name !== 'PLANTED');
    return {
      isHeld: found.length === 0,
      happened: found.length === 0 ? 'nothing but its own' : `got ${found}`,
    };
  },
};
