import { agentToken, readAgentToken } from './token';

const KEY = 'the key of this test';
const executionId = '0193f3a0-0000-7000-8000-000000000001';
const said = { executionId, instances: ['app_1', 'höst/ä_2'] };
const packed = (text: string): string => Buffer.from(text).toString('base64url');

test('the token of an agent says its execution and instances', () => {
  const token = agentToken(KEY, said);
  expect(token).toMatch(/^agent\.[0-9a-f-]{36}\.[\w-]+\.[0-9a-f]{32}$/);
  expect(readAgentToken(KEY, token)).toEqual(said);
});

test('a changed token says nothing', () => {
  const token = agentToken(KEY, said);
  const [, , own, mac] = token.split('.');
  const other = executionId.replace(/1$/, '2');
  for (const forged of [
    `agent.${executionId}.${packed('["app_1","app_9"]')}.${mac}`,
    `agent.${other}.${own}.${mac}`,
    `agent.${executionId}.${mac}`,
    `agent.${executionId}..${mac}`,
    `agent.${executionId}.${own}.${mac}.`,
    `agent.${executionId}.${own}.${mac!.slice(1)}`,
    `agent.x.${own}.${mac}`,
    mac!,
    'agent.',
    '',
  ])
    expect(readAgentToken(KEY, forged)).toBeNull();
  expect(readAgentToken('another key', token)).toBeNull();
});
