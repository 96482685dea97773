import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** Bench programs in their own processes, called over the channel of fork: one question, one answer. */
export interface Child<Ask, Answer> {
  pid: number;
  ask(question: Ask): Promise<Answer>;
  stop(): Promise<void>;
}

interface Reply {
  answer?: unknown;
  error?: string;
}

const KILL_AFTER_MS = 5_000;
export const benchRoot = join(__dirname, '..');

/** Starts `file` (below bench/). Its questions are answered one at a time. */
export function startChild<Ask extends object, Answer>(
  file: string,
  env: Record<string, string> = {},
): Child<Ask, Answer> {
  const child = fork(join(benchRoot, file), [], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let last: Promise<unknown> = Promise.resolve();
  return {
    pid: child.pid!,
    ask(question) {
      const answer = last.then(() => exchange(child, question));
      last = answer.catch(() => undefined);
      return answer as Promise<Answer>;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      if (child.connected) child.disconnect();
      const late = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

function exchange(child: ChildProcess, question: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => {
      child.off('message', onMessage);
      reject(new Error(`a process of the bench ended with ${code}`));
    };
    const onMessage = (reply: Reply): void => {
      child.off('exit', onExit);
      if (reply.error === undefined) resolve(reply.answer);
      else reject(new Error(reply.error));
    };
    child.once('exit', onExit);
    child.once('message', onMessage as (message: unknown) => void);
    child.send(question);
  });
}

/** Runs in the child: answers the parent until it disconnects; then calls `end` and exits. */
export function serveParent<Ask>(
  answer: (question: Ask) => Promise<unknown>,
  end: () => Promise<void> = async () => undefined,
): void {
  process.on('message', (question: Ask) => {
    answer(question).then(
      (value) => process.send?.({ answer: value ?? null }),
      (error: Error) => process.send?.({ error: error.stack ?? String(error) }),
    );
  });
  process.once('disconnect', () => void end().finally(() => process.exit(0)));
}
