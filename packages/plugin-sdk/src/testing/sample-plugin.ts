import * as z from 'zod';
import { nodeType, sensitive } from '../index';
import { definePlugin } from '../plugin';

/** A service outside: records by id. Tests change it behind the plugin's back. */
export interface Records {
  byId: Map<string, { ip: string; ttl: number }>;
  /** What was asked for, in order. */
  calls: string[];
}

export const emptyRecords = (): Records => ({ byId: new Map(), calls: [] });

/** A plugin for tests: one type with everything that a type may have. */
export function samplePlugin(records: Records) {
  return definePlugin({
    name: 'dns',
    version: '1.2.0',
    description: 'Records of zones',
    secrets: ['dns_token'],
    types: {
      'dns.nodes.Record': nodeType({
        aliases: ['dns.Record'],
        description: 'A record',
        properties: z.object({
          zone: z.string().describe('Name of the zone'),
          ip: z.string(),
          ttl: z.int().min(1).default(300),
          kind: z.enum(['A', 'AAAA']).default('A'),
          tags: z.array(z.string()).optional(),
          limits: z
            .object({ burst: z.int().default(5), labels: z.record(z.string(), z.string()).optional() })
            .optional(),
          password: sensitive(z.string()).optional(),
        }),
        runtime: z.object({ id: z.string(), ttl: z.number(), token: sensitive(z.string()) }),
        async create({ properties, runtime, secret, step, log }) {
          log.info(`with ${await secret('dns_token')} and ${properties.password}`);
          runtime.id = await step('make', async () => {
            records.calls.push('make');
            const id = `r${records.byId.size + 1}`;
            records.byId.set(id, { ip: properties.ip, ttl: properties.ttl });
            return id;
          });
          await step('announce', async () => void records.calls.push('announce') as never);
        },
        read: ({ runtime }) => records.byId.get(runtime.id ?? '') ?? null,
        compare: ['ip', 'ttl'],
        update({ runtime, changes }) {
          records.calls.push(`update ${JSON.stringify(changes)}`);
          records.byId.set(runtime.id!, { ...records.byId.get(runtime.id!)!, ...changes });
        },
        delete({ runtime }) {
          records.calls.push('delete');
          records.byId.delete(runtime.id ?? '');
        },
        operations: {
          renew: {
            inputs: z.object({
              days: z.int().min(1).max(90).default(30),
              why: z.string(),
              more: z.record(z.string(), z.string()).optional(),
            }),
            run: ({ inputs }) => `${inputs.days} days: ${inputs.why}`,
          },
        },
        resumable: ['create'],
      }),
    },
    operations: { 'dns.tasks.old': () => 'old' },
  });
}
