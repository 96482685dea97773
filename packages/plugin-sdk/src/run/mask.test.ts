import { RetryableError } from '../errors';
import { Mask } from './mask';

test('the error of an aborted signal stands in the causes of others, and is masked', () => {
  const mask = new Mask();
  mask.add('hidden-word');
  const aborted = new DOMException('the hidden-word was aborted', 'AbortError');
  const thrown = mask.thrown(new RetryableError('no hidden-word', { cause: aborted })) as Error;
  expect([thrown.message, (thrown.cause as Error).message]).toEqual([
    'no ********',
    'the ******** was aborted',
  ]);
  expect(thrown.stack).not.toContain('hidden-word');
});
