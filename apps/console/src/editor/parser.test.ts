import { afterDelay } from '@baton/kernel';
import type { WorkerReply, WorkerRequest } from './parse-messages';
import { parseRound } from './parse-round';
import { createParser } from './parser';

/** Runs the worker's code in this thread. */
function worker(): Worker {
  const one = {
    onmessage: null as ((event: { data: WorkerReply }) => void) | null,
    terminate: () => undefined,
    postMessage(request: WorkerRequest) {
      if (request.kind === 'parse')
        void parseRound(request.task).then(({ result }) =>
          one.onmessage?.({ data: { id: request.id, result } }),
        );
    },
  };
  return one as unknown as Worker;
}
const V = 'tosca_definitions_version: cloudify_dsl_1_4\n';
const TYPES = `${V}imports: [cloudify/types/types.yaml]\n`;
const parserWith = (obtain: Parameters<typeof createParser>[0]['obtain']) =>
  createParser({ createWorker: worker, obtain, nowMs: () => 0, delay: afterDelay });
const filesOf = (text: string) => ({ paths: ['blueprint.yaml'], texts: { 'blueprint.yaml': text } });

test('errors are the manager’s, with line, column and the nearest name', async () => {
  const parser = parserWith(async () => null);
  const result = await parser.parse(
    filesOf(`${TYPES}node_templates:\n  web:\n    type: cloudify.nodes.Computte\n`),
    'blueprint.yaml',
  );
  expect(result!.isValid).toBe(false);
  expect(result!.diagnostics[0]).toMatchObject({
    file: 'blueprint.yaml',
    line: 5,
    column: 11,
    nearest: 'cloudify.nodes.Compute',
  });
  expect(result!.nodes!.map(({ id, file, line }) => [id, file, line])).toEqual([
    ['web', 'blueprint.yaml', 4],
  ]);
});

test('plugins are obtained once, and asked for again when they were not there', async () => {
  const asked: string[] = [];
  const parser = parserWith(async (need) => {
    asked.push(need);
    return { kind: 'unreadable', reason: 'no plugin "aws" is installed', valid: ['awss'] };
  });
  const files = filesOf(`${V}imports: ['plugin:aws']\n`);
  const result = await parser.parse(files, 'blueprint.yaml');
  expect(result!.diagnostics[0]).toMatchObject({ kind: 'blueprint_import_failed', nearest: 'awss' });
  await parser.parse(files, 'blueprint.yaml');
  expect(asked).toHaveLength(1);
  parser.forget();
  await parser.parse(files, 'blueprint.yaml');
  expect(asked).toHaveLength(2);
});

test('only the newest text has a result', async () => {
  const parser = parserWith(async () => null);
  const [old, fresh] = await Promise.all([
    parser.parse(filesOf(V), 'blueprint.yaml'),
    parser.parse(filesOf(`${V}x: 1\n`), 'blueprint.yaml'),
  ]);
  expect(old).toBeNull();
  expect(fresh!.diagnostics[0]!.severity).toBe('error');
});

test('an address is for the manager: nobody here can say that it is wrong', async () => {
  const parser = parserWith(async () => ({ kind: 'unreadable', reason: 'not fetched here' }));
  const result = await parser.parse(
    filesOf(`${V}imports: ['https://example.org/types.yaml']\n`),
    'blueprint.yaml',
  );
  expect(result!.diagnostics[0]).toMatchObject({ kind: 'import_failed', severity: 'warning' });
  expect(result!.isValid).toBe(true);
});

test('an archive without its main file says so', async () =>
  expect(
    (await parserWith(async () => null).parse({ paths: [], texts: {} }, 'blueprint.yaml'))!.diagnostics[0],
  ).toMatchObject({ message: 'blueprint.yaml does not exist in the archive' }));
