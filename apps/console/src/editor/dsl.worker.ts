/** Web worker that parses during typing. It uses the manager's own parser, so its errors are the manager's errors. */
import { type BlueprintOutline, completeBlueprint } from '@baton/dsl';
import type { WorkerReply, WorkerRequest } from './parse-messages';
import { parseRound } from './parse-round';

let outline: BlueprintOutline | null = null;

async function answer(request: WorkerRequest): Promise<WorkerReply['result']> {
  if (request.kind === 'complete') return completeBlueprint(request.text, request.offset, outline);
  const round = await parseRound(request.task);
  // If the new text cannot be parsed, completion keeps the names of the last parsed text.
  outline = round.outline ?? outline;
  return round.result;
}

self.addEventListener('message', ({ data }: MessageEvent<WorkerRequest>) => {
  const reply = (rest: Omit<WorkerReply, 'id'>): void => self.postMessage({ id: data.id, ...rest });
  answer(data).then(
    (result) => reply({ result }),
    (error: unknown) => reply({ fault: String(error) }),
  );
});
