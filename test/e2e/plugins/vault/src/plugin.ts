import { definePlugin, nodeType, sensitive } from '@baton/plugin-sdk';
import * as z from 'zod';

const account = nodeType({
  properties: z.object({ token: sensitive(z.string()) }),
  runtime: z.object({
    id: z.string(),
    token: sensitive(z.string()),
    login: sensitive(z.object({ user: z.string(), password: z.string() })),
  }),
  async create({ properties, runtime, step, log }) {
    runtime.id = await step('make', async () => {
      runtime.token = `${properties.token}-of-the-account`;
      runtime.login = { user: 'admin', password: `${properties.token}-of-admin` };
      return 'a1';
    });
    log.info(`made with ${runtime.token}`);
  },
  start({ runtime, log }) {
    log.info(`started with ${runtime.token} and ${runtime.login?.password}`);
    if (runtime.login?.user !== 'admin') throw new Error('the login is not there');
  },
  delete: () => undefined,
  operations: {
    change: {
      inputs: z.object({ to: sensitive(z.string()) }),
      run: ({ runtime, inputs }) => {
        runtime.token = inputs.to;
      },
    },
  },
  resumable: ['create', 'delete'],
});

/** Shows that another node gets the value. */
const user = nodeType({
  operations: {},
  create: ({ inputs, log }) => {
    log.info(
      `got ${String(inputs.token).length} characters: ${String(inputs.token)}, of ${typeof inputs.login}`,
    );
  },
  inputs: { create: z.object({ token: z.string().optional(), login: z.any().optional() }) },
});

export default definePlugin({
  name: 'vault',
  version: '1.0.0',
  types: { 'vault.nodes.Account': account, 'vault.nodes.User': user },
});
