import {
  definePlugin,
  FatalError,
  isMarkedError,
  OperationDeferred,
  OperationRetry,
  operationErrorMark,
  RetryableError,
} from './index';

describe('errors of operations', () => {
  it('say what shall happen next and show the delay in the text', () => {
    const retryable = new RetryableError('slow', { retryAfter: 5 });
    expect([retryable[operationErrorMark], retryable.message, retryable.retryAfter]).toEqual([
      'retryable',
      'slow [retry_after=5]',
      5,
    ]);
    expect(new RetryableError('slow').message).toBe('slow');
    expect(new FatalError('no').exceptionType).toBe('NonRecoverableError');
    expect(new OperationRetry()[operationErrorMark]).toBe('retry');
  });

  it('of operations that wait say for what and for how long at most, within bounds', () => {
    const id = '0198D7A0-0000-7000-8000-000000000001';
    const waits = new OperationDeferred('the install of child', { untilExecution: id });
    expect([waits[operationErrorMark], waits.untilExecution, waits.retryAfter]).toEqual([
      'deferred',
      id.toLowerCase(),
      60,
    ]);
    expect(new OperationDeferred('x', { checkAfter: 0 }).retryAfter).toBe(0.5);
    expect(new OperationDeferred('x', { checkAfter: 1e9 })).toMatchObject({
      retryAfter: 3600,
      untilExecution: null,
    });
    expect(() => new OperationDeferred('x', { untilExecution: 'child' })).toThrow(
      'untilExecution: expected the id of an execution (a UUID), got child',
    );
    expect(() => new OperationDeferred('x', { checkAfter: '5' as never })).toThrow(
      'checkAfter: expected a number of seconds, got 5',
    );
  });

  it('are recognised by their mark, also from another copy of the package', () => {
    const foreign = Object.assign(new Error('x'), { [Symbol.for('baton.operation-error')]: 'fatal' });
    expect(isMarkedError(foreign)).toBe(true);
    expect(isMarkedError(new Error('x'))).toBe(false);
    expect(isMarkedError('x')).toBe(false);
  });
});

describe('definePlugin', () => {
  it('refuses what cannot be called', () => {
    const operations = { 'probe.op': 1 as never };
    expect(() => definePlugin({ name: 'probe', operations })).toThrow('probe.op is not a function');
    expect(() => definePlugin({ name: '', operations: {} })).toThrow('needs a name');
    expect(() => definePlugin({ name: 'probe', operations: { '': () => null } })).toThrow('mapping is empty');
    expect(definePlugin({ name: 'probe', operations: { op: () => 1 } }).name).toBe('probe');
  });
});
