import type { ItemOf } from '@baton/client';
import type { Command } from 'commander';
import { UsageFailure } from '../failure';
import { eventLine } from '../follow';
import { type Cli, command, noun, option, repeated, required } from '../layer/define';
import { fetchItems } from '../layer/fetch-items';
import { listOptions, listQuery } from '../layer/list-options';

export function eventCommands(cli: Cli): void {
  const events = noun(cli, 'events', {
    alias: 'event',
    about: 'events and log lines',
    examples: ['events list -e 019a... --level error', 'events list -d hello --from 2026-11-26T00:00:00Z'],
  });
  command(cli, events, {
    name: 'list',
    about: 'events of an execution or a deployment',
    uses: ['listEvents'],
    isWatched: true,
    options: [
      option('-e, --execution <id>', 'execution'),
      option('-g, --execution-group <id>', 'execution group'),
      option('-d, --deployment <id>', 'deployment'),
      option('-n, --node <id>', 'node'),
      option('--node-instance <id>', 'node instance'),
      repeated('--level <level>', 'only log lines of this level'),
      repeated('--event-type <type>', 'only events of this type'),
      option('--message <text>', 'only with this text'),
      option('--from <time>', 'not before this time, ISO 8601'),
      option('--to <time>', 'before this time, ISO 8601'),
      ...listOptions('listEvents'),
    ],
    run: async ({ options, client, out }) => {
      const fields = {
        execution_id: options.execution,
        execution_group_id: options.executionGroup,
        deployment_id: options.deployment,
        node_id: options.node,
        node_instance_id: options.nodeInstance,
        level: options.level,
        event_type: options.eventType,
        message: options.message,
        _range: rangeOf(options.from, options.to),
      };
      const given = Object.entries(fields).filter(([, value]) => value !== undefined && value.length > 0);
      const query = { ...listQuery('listEvents', options), ...Object.fromEntries(given) };
      const items = await fetchItems(client, 'listEvents', { query }, options);
      if (out.isMachine) out.table(items as object[], [], { name: '_storage_id' });
      else for (const item of items) out.say(eventLine(item as ItemOf<'listEvents'>));
    },
  });
  deleteEvents(cli, events);
  changesCommand(cli);
}

function deleteEvents(cli: Cli, events: Command): void {
  command(cli, events, {
    name: 'delete',
    about: 'delete the events of a deployment, on request its log lines as well',
    uses: ['deleteEvents'],
    options: [
      required('-d, --deployment <id>', 'deployment'),
      option('--with-logs', 'the log lines as well'),
      option('--from <time>', 'not before this time, ISO 8601'),
      option('--to <time>', 'before this time, ISO 8601'),
    ],
    run: async ({ options, client, out }) => {
      const answer = await client.call('deleteEvents', {
        query: {
          deployment_id: options.deployment,
          type: options.withLogs ? ['cloudify_event', 'cloudify_log'] : ['cloudify_event'],
          _range: rangeOf(options.from, options.to),
        },
      });
      out.done(`Events of deployment ${options.deployment} deleted.`, answer as object);
    },
  });
}

const KINDS = ['executions', 'deployments', 'blueprints', 'plugins'];

function changesCommand(cli: Cli): void {
  const changes = noun(cli, 'changes', {
    about: 'what is made, changed or deleted, as it happens',
    examples: ['changes follow --kind executions -o json'],
  });
  command(cli, changes, {
    name: 'follow',
    about: 'show changes until Ctrl-C, one a line; with -o json one document a line',
    uses: ['streamChanges'],
    options: [repeated('--kind <kind>', KINDS.join(', ')), repeated('--id <id>', 'only this object')],
    run: async ({ options, client, out, io }) => {
      for (const kind of options.kind as string[])
        if (!KINDS.includes(kind))
          throw new UsageFailure(`--kind ${kind}: expected one of ${KINDS.join(', ')}`);
      const end = new AbortController();
      const stopListening = io.onInterrupt(() => end.abort());
      const query = {
        kinds: options.kind.length > 0 ? options.kind.join(',') : undefined,
        ids: options.id.length > 0 ? options.id.join(',') : undefined,
      };
      try {
        for await (const { event, data } of client.events('streamChanges', query, { signal: end.signal }))
          if (event === 'change') out.line(changeText(data), data);
      } finally {
        stopListening();
      }
    },
  });
}

const changeText = ({ kind, operation, id }: { kind: string; operation: string; id: string }): string =>
  `${kind}  ${operation}  ${id}`;

/** Returns the parameter _range; absent without a bound. */
function rangeOf(from: string | undefined, to: string | undefined): string | undefined {
  return from === undefined && to === undefined ? undefined : `timestamp,${from ?? ''},${to ?? ''}`;
}
