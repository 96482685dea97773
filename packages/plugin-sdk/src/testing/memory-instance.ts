import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { InstanceContext } from '../context';
import { FatalError } from '../errors';
import { MemoryFiles } from './memory-files';

/** A node instance in memory. `stored`: what a manager would have; changes count only when they are stored. */
export class MemoryInstance implements InstanceContext {
  readonly nodeId: string;
  readonly id: string;
  readonly index = 1;
  readonly state = 'started';
  readonly systemProperties = {};
  readonly relationships = [];
  readonly scalingGroups = [];
  readonly files = new MemoryFiles();
  stored: JsonObject;
  runtimeProperties: JsonObject;

  constructor(runtime: JsonObject, nodeId = 'node') {
    this.nodeId = nodeId;
    this.id = `${nodeId}_abc123`;
    this.stored = asJson(runtime);
    this.runtimeProperties = asJson(runtime);
  }

  async hostIp(): Promise<string> {
    const { ip } = this.runtimeProperties;
    if (typeof ip === 'string') return ip;
    throw new FatalError('the node of the test has no runtime property ip');
  }

  async update(): Promise<void> {
    this.stored = asJson(this.runtimeProperties);
  }

  async refresh(): Promise<void> {
    this.runtimeProperties = asJson(this.stored);
  }
}

/** A copy, as the wire between plugin and manager makes it. @throws FatalError for values that are no JSON */
function asJson(value: unknown): JsonObject {
  const text = JSON.stringify(value);
  const copy = text === undefined ? null : (JSON.parse(text) as Json);
  if (!isJsonObject(copy)) throw new FatalError('runtime properties must be a dictionary');
  return copy;
}
