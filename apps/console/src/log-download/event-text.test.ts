import { fileNameOf, textOfEvent } from './event-text';

test('an event is a line, with what stands below it moved in', () =>
  expect(
    textOfEvent({
      reported_timestamp: '2026-01-01T00:00:00.000Z',
      level: 'error',
      node_instance_id: 'db_1',
      operation: 'create',
      message: 'first\nsecond',
      error_causes: [{ type: 'E', message: 'no', traceback: 'at x\r\nat y' }],
    }),
  ).toBe('2026-01-01T00:00:00.000Z ERROR [db_1 create] first\n    second\n    E: no\n    at x\n    at y\n'));

test('what is not there leaves no gap', () =>
  expect(textOfEvent({ event_type: 'workflow_started', message: 'Starts' })).toBe(
    'WORKFLOW_STARTED Starts\n',
  ));

test('names of files are plain', () => {
  expect(fileNameOf(['install', null, 'a/b ../c'])).toBe('install-a_b_.._c.log');
  expect(fileNameOf([])).toBe('log.log');
});
