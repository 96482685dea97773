import type { StepResult, WorkDecision, WorkPort, WorkTask } from '../workflow/work';

/** The part of the engine that code calls, in memory: steps and failing operations that ask. */
export function memoryPort() {
  const tasks = new Map<string, WorkTask>();
  const told: { steps: StepResult[]; decisions: WorkDecision[]; isResumable: boolean } = {
    steps: [],
    decisions: [],
    isResumable: false,
  };
  let version = 0;
  let cancel = '';
  let news = (): void => undefined;
  const change = (task: WorkTask): void => {
    tasks.set(task.key, task);
    version++;
    news();
  };
  const ofIdx = (idx: number): WorkTask => [...tasks.values()].find((task) => task.idx === idx)!;
  const port: WorkPort = {
    submit: async (work) => {
      // As on the wire: a value that is not JSON is not sent.
      const { items = [], steps = [], decisions = [], isResumable } = JSON.parse(plain(work)) as typeof work;
      told.isResumable ||= isResumable === true;
      for (const { key, item } of items) {
        const asksHow = item === 'step' ? 'started' : 'response-sent';
        const error = item === 'step' ? null : { type: 'E', message: 'failed' };
        const about = {
          kind: item,
          name: item,
          about: '',
          subgraph: null,
          attempt: 1,
          retries: 0,
          result: null,
        };
        // Code that runs again finds the work that it has asked for before.
        if (tasks.has(key)) continue;
        change({ key, idx: tasks.size, ...about, state: asksHow, error, isAsking: true });
      }
      told.steps.push(...steps);
      told.decisions.push(...decisions);
      for (const { idx, result, error } of steps)
        change({ ...ofIdx(idx), state: error ? 'failed' : 'succeeded', result, error, isAsking: false });
      for (const { idx } of decisions) change({ ...ofIdx(idx), state: 'failed', isAsking: false });
      return { error: null, keys: items.map(({ key }) => key) };
    },
    await: async (after, signal) => {
      if (version === after.version && (cancel === '' || after.isCancelKnown))
        await new Promise<void>((resolve) => {
          news = resolve;
          signal.addEventListener('abort', () => resolve());
        });
      return { version, changes: [...tasks.values()], cancel };
    },
    call: async () => null,
  };
  /** As a user who cancels the execution. */
  const requestCancel = (): void => {
    cancel = 'cancel';
    news();
  };
  return { port, told, requestCancel };
}

function plain(work: unknown): string {
  return JSON.stringify(work, (_, value: unknown) => {
    if (typeof value === 'function' || (typeof value === 'number' && !Number.isFinite(value)))
      throw new TypeError('could not be cloned');
    return value;
  });
}
