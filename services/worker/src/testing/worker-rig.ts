import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Broker, createRabbitBroker } from '@baton/broker';
import { buildMessage, taskReady, tasksCancelled } from '@baton/contracts';
import { isoInstant, newId, silentLog, systemClock } from '@baton/kernel';
import { loadConfig, type Running, startParts } from '@baton/service-runtime';
import { connectInfra } from '@baton/service-runtime/infra';
import { testNamespace, testUrls } from '@baton/testkit';
import { buildService, configSchema } from '../service';
import { type EnginePeer, type PeerTask, startEnginePeer } from './engine-peer';

/** Workers on a real broker, against the engine peer. */
export interface WorkerRig {
  peer: EnginePeer;
  broker: Broker;
  env(more?: Record<string, string>): Record<string, string>;
  /** Starts a worker in this process; `stop` drains it. */
  startWorker(more?: Record<string, string>): Promise<{ id: string; stop(): Promise<void> }>;
  wake(task: PeerTask): Promise<void>;
  /** Cancels the task in the engine and publishes the message. */
  cancel(task: PeerTask): Promise<void>;
  /** Publishes only the message. */
  tellCancel(task: PeerTask): Promise<void>;
  close(): Promise<void>;
}

/** One namespace per test file: durable queues outlive a test, and a broker should not collect hundreds of them. */
const namespace = testNamespace();

export async function createWorkerRig(leaseMs?: number): Promise<WorkerRig> {
  const peer = await startEnginePeer(leaseMs);
  const broker = createRabbitBroker({ url: testUrls.amqp(), log: silentLog, namespace });
  const running: { stop(): Promise<void> }[] = [];
  const about = (task: PeerTask) => ({
    tenant: 'default_tenant',
    key: task.executionId,
    time: isoInstant(systemClock.now()),
  });
  const folders: string[] = [];
  const folder = (): string => {
    const path = mkdtempSync(join(tmpdir(), 'baton-worker-'));
    folders.push(path);
    return path;
  };
  const env = (more: Record<string, string> = {}): Record<string, string> => ({
    BATON_WORKER_JOIN_TOKEN: 'join token of the tests of workers',
    BATON_NAMESPACE: namespace,
    AMQP_URL: testUrls.amqp(),
    BATON_LOG_LEVEL: 'silent',
    BATON_RPC_EXECUTIONS: peer.address,
    BATON_RPC_DEPLOYMENTS: peer.address,
    BATON_RPC_CATALOG: peer.address,
    BATON_RPC_SECRETS: peer.address,
    BATON_HTTP_PORT: '0',
    BATON_WORKER_DIR: folder(),
    BATON_WORKER_HANDLERS: join(__dirname, 'probe-handlers.js'),
    BATON_WORKER_STOP_AFTER: '5s',
    // Tests examine the processes and files of operations from outside.
    BATON_WORKER_ISOLATION: 'none',
    ...more,
  });
  const wake = (task: PeerTask): Promise<void> =>
    broker.publish([
      buildMessage(taskReady, about(task), { executionId: task.executionId, taskId: task.id }),
    ]);
  const tellCancel = (task: PeerTask): Promise<void> =>
    broker.publish([
      buildMessage(tasksCancelled, about(task), { executionId: task.executionId, taskIds: [task.id] }),
    ]);
  peer.announce = wake;
  return {
    peer,
    broker,
    env,
    startWorker: async (more) => {
      const config = loadConfig(configSchema, env(more));
      const id = `worker-${newId()}`;
      const infra = await connectInfra(config, {
        service: 'worker',
        log: silentLog,
        shared: { instanceId: id },
      });
      const started: Running = await startParts([{ parts: buildService(config, infra), infra }], {
        config,
        hasHeartbeat: false,
      });
      let stopped: Promise<void> | null = null;
      const worker = { id, stop: () => (stopped ??= started.stop().then(() => infra.close())) };
      running.push(worker);
      return worker;
    },
    wake,
    cancel: (task) => {
      task.isCancelled = true;
      return tellCancel(task);
    },
    tellCancel,
    close: async () => {
      await Promise.all(running.map((worker) => worker.stop()));
      await broker.close();
      await peer.close();
      for (const path of folders) rmSync(path, { recursive: true, force: true });
    },
  };
}
