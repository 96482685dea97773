import type { IncomingMessage } from 'node:http';
import { loadConfig } from '@baton/service-runtime';
import { configSchema } from './config';
import { createFixedHeaders } from './fixed-headers';

const request = {} as IncomingMessage;
const overHttps = () => true;
const plain = () => false;

test('browsers that came over https stay with it for a year unless it is configured otherwise', () => {
  const { BATON_HSTS } = loadConfig(configSchema, { BATON_INTERNAL_KEY: 'sixteen characters' });
  expect(createFixedHeaders(BATON_HSTS, overHttps)(request)).toEqual([
    'x-content-type-options',
    'nosniff',
    'strict-transport-security',
    'max-age=31536000; includeSubDomains',
  ]);
});

test('it is not said over plain http, where browsers must ignore it, nor where it is switched off', () => {
  const without = ['x-content-type-options', 'nosniff'];
  expect(createFixedHeaders(60_000, plain)(request)).toEqual(without);
  expect(createFixedHeaders(0, overHttps)(request)).toEqual(without);
});
