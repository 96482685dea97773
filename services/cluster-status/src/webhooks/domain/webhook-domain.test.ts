import { Secret } from '@baton/kernel';
import { deliveryMachine } from './delivery.machine';
import { isWanted, orderKeyOf, type Subscription, type WebhookEvent } from './event';
import { checkedHeaders } from './headers';
import { breakMs, decideOutcome, GIVE_UP_MS, isHostFailure } from './outcome';
import { checkTemplate, renderPayload } from './render-payload';
import { hasSignature, isSigningSecret, newSigningSecret, signedHeaders } from './signature';

const event: WebhookEvent = {
  id: 'e1',
  tenant: 't',
  type: 'execution.finished',
  time: '2026-01-01T00:00:00.000Z',
  data: { deployment_id: 'd1', status: 'failed', created_by: '<!channel> "x"', link: '/l' },
};
const all: Subscription = { events: ['*'], filter: null, format: 'standard', template: null, order_by: null };

describe('which events a webhook gets', () => {
  test.each<[Partial<Subscription>, boolean]>([
    [{}, true],
    [{ events: ['execution.finished'] }, true],
    [{ events: ['execution.started'] }, false],
    [{ filter: { status: 'failed' } }, true],
    [{ filter: { status: ['terminated', 'failed'], deployment_id: 'd1' } }, true],
    [{ filter: { status: 'failed', deployment_id: 'd2' } }, false],
    [{ filter: { workflow_id: 'install' } }, false],
  ])('%j: %s', (some, isWantedThen) => expect(isWanted({ ...all, ...some }, event)).toBe(isWantedThen));

  test('an order is kept by deployment, where the event has one', () => {
    const ordered = { ...all, order_by: 'deployment' };
    expect([orderKeyOf(all, event), orderKeyOf(ordered, event)]).toEqual([null, 'd1']);
    expect(orderKeyOf(ordered, { ...event, data: {} })).toBeNull();
  });
});

describe('what follows an attempt', () => {
  const about = { attempts: 1, maxAttempts: 5, giveUpAtMs: GIVE_UP_MS, nowMs: 0 };
  const waitOf = (attempts: number, random: number) => {
    const outcome = decideOutcome({ status: 500 }, { ...about, attempts, maxAttempts: 50 }, random);
    return outcome.state === 'pending' ? outcome.nextAtMs / 1000 : null;
  };

  test('every outcome is a state that the machine allows after an attempt', () => {
    const results = [{ status: 200 }, { status: 500 }, { status: 410 }];
    const states = results.map((result) => decideOutcome(result, about).state);
    expect(states.sort()).toEqual(Object.values(deliveryMachine.on.pending).sort());
  });

  test('waits grow from 10 s to 6 h', () => {
    expect([waitOf(1, 1), waitOf(1, 0), waitOf(2, 1), waitOf(3, 0)]).toEqual([10, 15, 30, 135]);
    expect(waitOf(40, 0)).toBe(6 * 3600);
  });

  test.each([
    [{ status: 200 }, {}, 'delivered'],
    [{ status: 299 }, {}, 'delivered'],
    [{ status: 302 }, {}, 'pending'],
    [{ status: 410 }, {}, 'failed'],
    [{ status: null, reason: 'it took too long' }, {}, 'pending'],
    [{ status: 500 }, { attempts: 5 }, 'failed'],
    [{ status: 500 }, { nowMs: GIVE_UP_MS }, 'failed'],
  ])('%j %j: %s', (result, more, state) =>
    expect(decideOutcome(result as never, { ...about, ...more }).state).toBe(state),
  );

  test.each([
    [429, '60', 60_000],
    [503, 'Thu, 01 Jan 1970 00:02:00 GMT', 120_000],
    [429, '99999999', 6 * 3_600_000],
    [429, 'soon', 15_000],
    [429, '-5', 15_000],
    [500, '60', 15_000],
  ])('%i with Retry-After %s waits %i ms', (status, retryAfter, nextAtMs) =>
    expect(decideOutcome({ status, retryAfter }, about, 0)).toMatchObject({ state: 'pending', nextAtMs }),
  );

  test('the breaker opens at the fifth failure of the host, not of a path', () => {
    expect([breakMs(4, 0), breakMs(5, 0), breakMs(6, 0), breakMs(40, 0)]).toEqual([
      0, 30_000, 60_000, 1_800_000,
    ]);
    expect([404, 500, null].map((status) => isHostFailure({ status } as never))).toEqual([false, true, true]);
  });
});

describe('payloads', () => {
  const body = (of: Partial<Subscription>, e = event) => renderPayload({ ...all, ...of }, e, 'm1').body;

  test('CloudEvents and Slack, where no id is markup', () => {
    expect(JSON.parse(body({ format: 'cloudevents' }))).toMatchObject({
      specversion: '1.0',
      id: 'm1',
      source: '/tenants/t',
      type: 'baton.execution.finished',
      data: event.data,
    });
    expect(JSON.parse(body({ format: 'slack' })).text).toBe(
      '*execution.finished* deployment_id: d1, status: failed, created_by: &lt;!channel&gt; "x"',
    );
  });

  test('no value adds to the document of a template', () => {
    const template = '{"text": "{{type}} {{ data.created_by }} {{data.constructor}} {{id}}"}';
    checkTemplate(template);
    expect(JSON.parse(body({ format: 'template', template }))).toEqual({
      text: 'execution.finished <!channel> "x"  m1',
    });
  });

  test('what is too large has ids and the link only', () => {
    const large = { ...event, data: { ...event.data, note: 'x'.repeat(300_000) } };
    for (const format of ['standard', 'slack'] as const)
      expect(JSON.parse(body({ format }, large)).data).toEqual({ deployment_id: 'd1', link: '/l' });
  });
});

test('signatures fit their key, id, time and body only', () => {
  const secret = new Secret(newSigningSecret());
  const content = { id: 'm1', timestampS: 5, body: '{}' };
  const { 'webhook-signature': header } = signedHeaders([new Secret(newSigningSecret()), secret], content);
  expect(hasSignature(secret, content, header!)).toBe(true);
  expect(hasSignature(secret, content, header!.replaceAll('v1,', 'v1a,'))).toBe(false);
  for (const change of [{ id: 'm2' }, { timestampS: 6 }, { body: '{} ' }])
    expect(hasSignature(secret, { ...content, ...change }, header!)).toBe(false);
  expect(['whsec_', 'whsec_!!!!', `whsec_${'A'.repeat(32)}`, 'A'.repeat(32)].map(isSigningSecret)).toEqual([
    false,
    false,
    true,
    false,
  ]);
});

test('headers of the request itself cannot be set', () => {
  expect(checkedHeaders({ 'X-A': 'b' })).toEqual({ 'x-a': 'b' });
  for (const name of [
    'Host',
    'Content-Length',
    'content-type',
    'Webhook-Id',
    'Transfer-Encoding',
    'a b',
    'x:y',
  ])
    expect(() => checkedHeaders({ [name]: 'x' })).toThrow(
      name.includes(' ') || name.includes(':') ? 'formed' : 'set by',
    );
});
