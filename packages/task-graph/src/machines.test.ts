import { executionMachine, operationMachine } from './machines';

test('an execution ends from every state and never twice', () => {
  expect(executionMachine.next('started', 'finish')).toBe('terminated');
  expect(executionMachine.next('cancelling', 'finish')).toBeNull();
  expect(executionMachine.next('cancelling', 'force-cancel')).toBe('force_cancelling');
  expect(executionMachine.next('force_cancelling', 'cancel')).toBeNull();
  expect(executionMachine.next('queued', 'cancel')).toBe('cancelled');
  for (const state of executionMachine.terminal) expect(executionMachine.on[state]).toEqual({});
});

test('an operation that nobody claimed may be sent again, one that ended may not', () => {
  expect(operationMachine.next('sent', 'lose')).toBe('pending');
  expect(operationMachine.next('started', 'answer-late')).toBe('response-sent');
  expect(operationMachine.next('succeeded', 'start')).toBeNull();
});
