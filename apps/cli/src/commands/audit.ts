import { exactTime } from '../cells';
import { type Cli, command, noun, number, type Options, option, required } from '../layer/define';

const SHOWN = ['created_at', 'creator_name', 'operation', 'ref_table', 'ref_id', 'execution_id'];
const about = () => [
  option('--user <name>', 'only by this user'),
  option('-e, --execution <id>', 'only by this execution'),
];
const aboutQuery = ({ user, execution }: Options) => ({ creator_name: user, execution_id: execution });

/** `baton audit ...`: who changed what. */
export function auditCommands(cli: Cli): void {
  const audit = noun(cli, 'audit', {
    about: 'who changed what',
    examples: [
      'audit list --since 2026-11-26T00:00:00Z --user alice',
      'audit follow',
      'audit truncate --before 2026-01-01T00:00:00Z',
    ],
  });
  command(cli, audit, {
    name: 'list',
    about: 'list changes, the newest last',
    uses: ['listAudit'],
    isWatched: true,
    options: [
      ...about(),
      option('--since <time>', 'after this time, ISO 8601'),
      option('--before <time>', 'before this time, ISO 8601'),
      number('--size <n>', 'at most so many, 0 = everything up to 10,000', 100),
      number('--offset <n>', 'after this number of changes'),
    ],
    run: async ({ options, client, out }) => {
      const { since, before, size, offset } = options;
      // The newest page is asked for downwards, and shown upwards: the newest stands beside the prompt.
      const query = { ...aboutQuery(options), since, before, size, offset, order_by: 'id', desc: 'true' };
      const { items, metadata } = await client.call('listAudit', { query });
      out.table([...items].reverse(), SHOWN, { wide: ['ref_identifier', 'request_id'], name: 'id' });
      const left = metadata.pagination.total - items.length;
      if (left > 0) out.say(`${left} more: --size and --offset show others.`);
    },
  });
  command(cli, audit, {
    name: 'follow',
    about: 'show changes as they are recorded, until Ctrl-C',
    uses: ['streamAudit'],
    options: [...about(), option('--since <time>', 'begin after this time, ISO 8601')],
    run: async ({ options, client, out, io }) => {
      const end = new AbortController();
      const stopListening = io.onInterrupt(() => end.abort());
      const query = { ...aboutQuery(options), since: options.since };
      try {
        for await (const { data } of client.events('streamAudit', query, { signal: end.signal }))
          if (typeof data === 'object' && data !== null) out.line(entryText(data), data);
      } finally {
        stopListening();
      }
    },
  });
  command(cli, audit, {
    name: 'truncate',
    about: 'delete entries before a time',
    uses: ['truncateAudit'],
    options: [required('--before <time>', 'time, ISO 8601'), ...about()],
    run: async ({ options, client, out }) => {
      const query = { ...aboutQuery(options), before: options.before };
      const answer = await client.call('truncateAudit', { query });
      out.done(`${answer.deleted} entries deleted.`, answer);
    },
  });
}

const entryText = (entry: Record<string, unknown>): string =>
  [
    exactTime(String(entry.created_at ?? '')),
    entry.creator_name,
    entry.operation,
    entry.ref_table,
    entry.ref_id,
  ]
    .filter(Boolean)
    .join('  ');
