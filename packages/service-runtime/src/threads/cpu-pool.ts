/** Worker threads for CPU-bound work on untrusted input, with limits of time, memory and queue length. */
import type { Worker } from 'node:worker_threads';
import { AppError, type ErrorCode, type ErrorDetails } from '@baton/kernel';
import type { CpuReply } from './cpu-worker';
import { startThread } from './thread';

export interface CpuPoolOptions {
  /** File from `resolveWorkerFile`. */
  workerFile: string;
  /** Most threads; they are started when needed. */
  size: number;
  timeLimitMs: number;
  memoryLimitMb: number;
  /** Tasks that may wait; default 1000. */
  maxQueue?: number;
}

/** A task that exceeded a limit of its pool; its thread was ended. */
export class CpuLimitError extends Error {
  constructor(
    readonly limit: 'time' | 'memory',
    readonly allowed: number,
  ) {
    super(limit === 'time' ? `took longer than ${allowed} ms` : `needed more than ${allowed} MB`);
    this.name = 'CpuLimitError';
  }
}

export interface CpuPool {
  /**
   * Runs the worker's function once.
   * @throws CpuLimitError; AppError of the function; AppError too_many_requests_error when the queue is full.
   */
  run<Value>(task: unknown): Promise<Value>;
  close(): Promise<void>;
}

interface Job {
  task: unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

function spawnWorker(o: CpuPoolOptions): Worker {
  const resourceLimits = {
    maxOldGenerationSizeMb: o.memoryLimitMb,
    maxYoungGenerationSizeMb: Math.max(8, o.memoryLimitMb / 8),
  };
  return startThread(o.workerFile, { resourceLimits });
}

function errorOf(reply: NonNullable<CpuReply['error']>): Error {
  if (reply.code) return new AppError(reply.code as ErrorCode, reply.message, reply.details as ErrorDetails);
  const error = new Error(reply.message);
  error.stack = reply.stack;
  return error;
}

/** Runs a job on one thread; resolves to the thread when it is free again, or to null when it is gone. */
function runOn(worker: Worker, job: Job, o: CpuPoolOptions): Promise<Worker | null> {
  return new Promise((free) => {
    const settle = (next: Worker | null): void => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      if (next) next.unref();
      // A thread that ends may still emit an error; without a listener the error would end the process.
      else worker.on('error', () => undefined);
      free(next);
    };
    const onMessage = (reply: CpuReply): void => {
      if (reply.error) job.reject(errorOf(reply.error));
      else job.resolve(reply.value);
      settle(worker);
    };
    const onError = (error: NodeJS.ErrnoException): void => {
      job.reject(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new CpuLimitError('memory', o.memoryLimitMb) : error,
      );
      settle(null);
    };
    const onExit = (code: number): void => {
      job.reject(new Error(`CPU worker ended with ${code}`));
      settle(null);
    };
    const timer = setTimeout(() => {
      void worker.terminate();
      job.reject(new CpuLimitError('time', o.timeLimitMs));
      settle(null);
    }, o.timeLimitMs);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.ref();
    worker.postMessage(job.task);
  });
}

/** A pool over one worker file. Idle threads do not keep the process alive. */
export function createCpuPool(o: CpuPoolOptions): CpuPool {
  const idle: Worker[] = [];
  const busy = new Set<Worker>();
  const queue: Job[] = [];
  let isClosed = false;

  const next = (): void => {
    while (queue.length > 0 && busy.size < o.size && !isClosed) {
      const worker = idle.pop() ?? spawnWorker(o);
      busy.add(worker);
      void runOn(worker, queue.shift()!, o).then((free) => {
        busy.delete(worker);
        if (free && !isClosed) idle.push(free);
        next();
      });
    }
  };
  return {
    run: <Value>(task: unknown) =>
      new Promise<Value>((resolve, reject) => {
        if (isClosed) return reject(new AppError('service_unavailable_error', 'The CPU pool is closed'));
        if (queue.length >= (o.maxQueue ?? 1000))
          return reject(new AppError('too_many_requests_error', 'Too many tasks wait for a CPU'));
        queue.push({ task, resolve: resolve as (value: unknown) => void, reject });
        next();
      }),
    async close() {
      isClosed = true;
      for (const job of queue.splice(0))
        job.reject(new AppError('service_unavailable_error', 'The CPU pool is closed'));
      await Promise.all([...idle, ...busy].map((worker) => worker.terminate()));
    },
  };
}
