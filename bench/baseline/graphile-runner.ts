// graphile-worker with a task that only reports its start.
import { type Runner, run } from 'graphile-worker';
import { serveParent } from '../harness/child';
import { createStartSender } from '../harness/start-times';

export interface GraphileQuestion {
  databaseUrl: string;
  startPort: number;
  concurrency: number;
}

let runner: Runner | undefined;

async function start({ databaseUrl, startPort, concurrency }: GraphileQuestion): Promise<void> {
  const sender = createStartSender(startPort);
  const { Logger } = await import('graphile-worker');
  runner = await run({
    connectionString: databaseUrl,
    concurrency,
    noHandleSignals: true,
    logger: new Logger(() => () => undefined),
    taskList: { noop: async (payload) => sender((payload as { id: string }).id) },
  });
}

serveParent<GraphileQuestion>(start, async () => await runner?.stop());
