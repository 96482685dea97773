import { camel, isKebab } from './names.mjs';

/** Returns a fact of a service: a schema in the catalogue of its owner. */
export function newMessage(tree, service, fact) {
  if (!isKebab(fact))
    return { error: 'the fact must be kebab-case and in the past tense: deployment-created' };
  if (!tree.exists(`services/${service}`)) return { error: `services/${service} is missing` };
  const path = `packages/contracts/src/messages/${service}.ts`;
  const before = tree.read(path) ?? "import { z } from 'zod';\nimport { defineMessage } from '../message';\n";
  const name = camel(fact);
  if (before.includes(`export const ${name} `)) return { error: `${name} exists in ${path}` };
  const text = `${before.trimEnd()}

/** What has happened, in one sentence. */
export const ${name} = defineMessage('${service}.${fact}.v1', 'work', z.object({ id: z.string() }));
`;
  return {
    files: [{ path, text }],
    steps: [
      `packages/contracts/src/index.ts: export ${name}`,
      `packages/broker/src/topology.ts: add { message: ${name}, queues: [...] }, every consumer named`,
      `producer: outbox.append(tx, ${name}, { tenant, key }, payload) in a command`,
      `consumer: services/<consumer>/src/messages/on-${fact}.ts with inbox.once in the transaction of its effect; add it to consumers in service.ts`,
    ],
  };
}
