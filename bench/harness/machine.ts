import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import pg from 'pg';
import { startChild } from './child';
import { median } from './statistics';

const ROUND_TRIPS = 5_000;

export interface Machine {
  cpu: string;
  cores: number;
  memoryGb: number;
  system: string;
  node: string;
  postgres: { version: string; fsync: string; synchronousCommit: string; sharedBuffers: string };
  /** Number of processes that waited for a core before the first measurement, mean of a minute: above 1 the machine is not idle. */
  loadBefore: number;
  /**
   * Median round trip of one byte to another process over loopback while nothing else runs, in microseconds. On machines whose
   * sleeping cores wake slowly (a virtual machine that leaves this to its host), a chain of operations waits that much longer at
   * each hop.
   */
  roundTripUs: number;
}

/** Describes the machine that the figures belong to. */
export async function describeMachine(databaseUrl: string): Promise<Machine> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } =
    await client.query(`select current_setting('server_version') as version, current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as "synchronousCommit", current_setting('shared_buffers') as "sharedBuffers"`);
  await client.end();
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    system: `${type()} ${release()}`,
    node: process.version,
    postgres: rows[0],
    loadBefore: Math.round(loadavg()[0]! * 100) / 100,
    roundTripUs: await roundTripUs(),
  };
}

async function roundTripUs(): Promise<number> {
  const child = startChild<object, number>('baseline/echo.ts');
  try {
    const times = await roundTrips(await child.ask({}));
    return Math.round(median(times.slice(ROUND_TRIPS / 5)) * 1_000);
  } finally {
    await child.stop();
  }
}

/** Measures round trips, one after another, in milliseconds. */
function roundTrips(port: number): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const times: number[] = [];
    const socket = connect(port, '127.0.0.1').setNoDelay();
    let begin = 0;
    const send = (): void => {
      begin = performance.now();
      socket.write('x');
    };
    socket.once('connect', send);
    socket.once('error', reject);
    // After the last round trip the promise is already settled, so this has no effect.
    socket.once('close', () => reject(new Error('the other end of the round trip closed the connection')));
    socket.on('data', () => {
      times.push(performance.now() - begin);
      if (times.length < ROUND_TRIPS) return send();
      socket.destroy();
      resolve(times);
    });
  });
}

let last = cpuTimes();

function cpuTimes(): { busy: number; all: number } {
  try {
    const numbers = readFileSync('/proc/stat', 'utf8')
      .split('\n')[0]!
      .trim()
      .split(/\s+/)
      .slice(1, 9)
      .map(Number);
    const all = numbers.reduce((sum, value) => sum + value, 0);
    return { busy: all - numbers[3]! - numbers[4]!, all };
  } catch {
    return { busy: 0, all: 0 };
  }
}

/** Returns the CPU seconds of all processes of the machine since the last call, to detect other load. */
export function machineCpuSeconds(): number {
  const now = cpuTimes();
  const spent = (now.busy - last.busy) / 100;
  last = now;
  return spent;
}
