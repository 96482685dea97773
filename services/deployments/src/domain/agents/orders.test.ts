import { agentsRpc } from '@baton/contracts';
import { ordersOf } from './orders';

const quiet = {
  ...{ id: 'a', epoch: 3, cut: null, trust: false, renew: false, upgrade: null, settings: null },
  leave: false,
};
const { AgentOrderKind: Kind } = agentsRpc;

test('an agent about which there is nothing to say gets no order', () => {
  expect(ordersOf([quiet], 'pem')).toEqual([]);
});

test('an agent that must go gets no other order', () => {
  const all = {
    ...quiet,
    cut: 'revoked',
    trust: true,
    upgrade: { version: '2' },
    settings: { maxWorkers: 1 },
  };
  expect(ordersOf([all], 'pem')).toEqual([
    { agentId: 'a', kind: Kind.AGENT_ORDER_KIND_CUT, detailJson: '{"reason":"revoked","epoch":3}' },
  ]);
});

test('several things are told at once', () => {
  const all = { ...quiet, trust: true, renew: true, upgrade: { version: '2' }, settings: { maxWorkers: 1 } };
  expect(ordersOf([all], 'pem').map(({ kind, detailJson }) => [kind, detailJson])).toEqual([
    [Kind.AGENT_ORDER_KIND_TRUST, '{"authorities":"pem","renew":true}'],
    [Kind.AGENT_ORDER_KIND_UPGRADE, '{"version":"2"}'],
    [Kind.AGENT_ORDER_KIND_SETTINGS, '{"maxWorkers":1}'],
  ]);
});

test('an agent whose host is uninstalled is told to leave, and nothing else', () => {
  expect(ordersOf([{ ...quiet, leave: true, trust: true }], 'pem')).toEqual([
    { agentId: 'a', kind: Kind.AGENT_ORDER_KIND_LEAVE, detailJson: '{}' },
  ]);
});
