// DBOS Transact with workflows of no-op steps, each step a durable checkpoint.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { serveParent } from '../harness/child';

export type DbosQuestion =
  | { kind: 'launch'; databaseUrl: string }
  /** Runs `workflows` in parallel with `steps` sequential steps each; returns seconds. */
  | { kind: 'run'; workflows: number; steps: number };

const noop = async (): Promise<null> => null;

const chain = DBOS.registerWorkflow(
  async (steps: number) => {
    for (let i = 0; i < steps; i++) await DBOS.runStep(noop, { name: 'noop' });
  },
  { name: 'chain' },
);

async function answer(question: DbosQuestion): Promise<number | null> {
  if (question.kind === 'launch') {
    DBOS.setConfig({ name: 'baton-bench', systemDatabaseUrl: question.databaseUrl, logLevel: 'error' });
    await DBOS.launch();
    return null;
  }
  const begin = performance.now();
  const handles = await Promise.all(
    Array.from({ length: question.workflows }, () => DBOS.startWorkflow(chain)(question.steps)),
  );
  await Promise.all(handles.map((handle) => handle.getResult()));
  return (performance.now() - begin) / 1000;
}

serveParent<DbosQuestion>(answer, async () => await DBOS.shutdown());
