// Messages between services: for each type one envelope with all fields, and one with only the required fields.

import { topology } from '@baton/broker';
import { buildMessage, type MessageType } from '@baton/contracts';
import type { Json, JsonObject } from '@baton/kernel';
import { z } from 'zod';
import { readEnvelope } from '../../packages/broker/src/catalogue';
import { type Kind, plain } from './kind';

/**
 * Returns a value that the schema accepts, with all fields or only the required ones. The same schema always gives the same
 * value.
 */
function sampleOf(schema: JsonObject, name: string, isFull: boolean): Json {
  if (Array.isArray(schema.enum)) return schema.enum[0]!;
  switch (schema.type) {
    case 'string':
      return `a ${name}`;
    case 'integer':
    case 'number':
      return 3;
    case 'boolean':
      return true;
    case 'array':
      return [sampleOf(schema.items as JsonObject, name, isFull)];
    case 'object':
      return objectOf(schema, name, isFull);
  }
  // z.unknown()
  return `any ${name}`;
}

function objectOf(schema: JsonObject, name: string, isFull: boolean): Json {
  const properties = schema.properties as Record<string, JsonObject> | undefined;
  if (!properties) return { key: sampleOf(schema.additionalProperties as JsonObject, name, isFull) };
  const required = (schema.required ?? []) as string[];
  const names = Object.keys(properties).filter((key) => isFull || required.includes(key));
  return Object.fromEntries(names.map((key) => [key, sampleOf(properties[key]!, key, isFull)]));
}

const ABOUT = { tenant: 'default_tenant', key: 'k', time: '2026-11-25T12:00:00.000Z' };
const TRACED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', causationId: 'c' };

function envelopes(message: MessageType<unknown>): Json {
  const schema = z.toJSONSchema(message.schema, { io: 'input' }) as JsonObject;
  const of = (isFull: boolean) => {
    const about = isFull ? { ...ABOUT, ...TRACED } : ABOUT;
    return {
      ...buildMessage(message, about, sampleOf(schema, 'payload', isFull)),
      id: '019aa5c4-1740-711d-a3c8-ff6b00000000',
    };
  };
  return plain([of(true), of(false)]);
}

export const messageKinds: Kind[] = topology.map(({ message }) => {
  const [, name, number] = /^(.*)\.v(\d+)$/.exec(message.type)!;
  return {
    name: `messages/${name}`,
    format: { written: Number(number), read: [Number(number)] },
    write: () => envelopes(message),
    // The envelope that a handler receives.
    read: (stored) => plain((stored as Json[]).map((envelope) => readEnvelope(message, envelope))),
  };
});
