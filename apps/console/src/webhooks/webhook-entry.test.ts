import { bodyOf, chooseEvent, entryOf, eventsText, faultsOf, filterText, NEW_WEBHOOK } from './webhook-entry';
import type { WebhookDetail } from './webhooks';

const stored = {
  url: 'https://hooks.example.com/',
  events: ['execution.finished'],
  filter: { status: 'failed', deployment_id: ['a', 'b'] },
  format: 'template',
  template: '{"text": "{{type}}"}',
  order_by: 'deployment',
  max_attempts: 5,
  header_names: ['authorization'],
} as unknown as WebhookDetail;

test('what is stored comes back unchanged, without the headers, whose values nobody knows', () => {
  expect(bodyOf(entryOf(stored))).toEqual({
    url: 'https://hooks.example.com/',
    events: ['execution.finished'],
    filter: { status: 'failed', deployment_id: ['a', 'b'] },
    format: 'template',
    template: '{"text": "{{type}}"}',
    order_by: 'deployment',
    max_attempts: 5,
  });
});

test('headers that are written anew replace all; a format without a template takes it away', () => {
  const entry = {
    ...entryOf(stored),
    format: 'slack' as const,
    isHeadersNew: true,
    headers: [
      ['x-a', '1'],
      ['', ''],
    ] as const,
  };
  expect(bodyOf(entry)).toMatchObject({ headers: { 'x-a': '1' }, template: null, format: 'slack' });
  expect(
    bodyOf({ ...entry, filter: { ...entry.filter, status: ' , ', deployment_id: '' } }).filter,
  ).toBeNull();
});

test('all events and single events exclude each other', () => {
  expect(chooseEvent(['*'], 'deployment.created', true)).toEqual(['deployment.created']);
  expect(chooseEvent(['deployment.created'], '*', true)).toEqual(['*']);
  expect(chooseEvent(['a', 'b'], 'a', false)).toEqual(['b']);
  expect(chooseEvent(['*'], '*', false)).toEqual([]);
});

test('each fault stands at its field', () => {
  const faults = faultsOf({
    ...NEW_WEBHOOK,
    events: [],
    format: 'template',
    maxAttempts: '51',
    headers: [['authorization', '']],
  });
  expect(Object.keys(faults).sort()).toEqual(['events', 'headers[0]', 'max_attempts', 'template']);
  expect(faultsOf({ ...NEW_WEBHOOK, maxAttempts: '50' })).toEqual({});
});

test('events and filters are told in words', () => {
  expect(eventsText(['*'])).toBe('all events');
  expect(filterText(stored.filter)).toBe('Status is failed; Deployment is a or b');
  expect(filterText(null)).toBe('');
});
