import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { z } from 'zod';
import type { Scope } from './scope';

/** Whether Python treats the value as false; then the next source of the setting is used. */
function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Returns a setting: input of the operation, else runtime property, else property of the node (reference/workflows.md 8.1). */
export function settingOf(
  { inputs, instance, properties }: Pick<Scope, 'inputs' | 'instance' | 'properties'>,
  key: string,
): Json | undefined {
  const places = [inputs[key], instance.runtimeProperties[key], properties[key]];
  return places.find((value) => !isEmpty(value)) ?? places.at(-1);
}

/** Returns a setting that is an object; {} when it is not set. @throws FatalError with the name of the setting */
export function objectSetting(
  scope: Pick<Scope, 'inputs' | 'instance' | 'properties'>,
  key: string,
): JsonObject {
  const value = settingOf(scope, key);
  if (isEmpty(value)) return {};
  if (isJsonObject(value)) return value;
  throw new FatalError(`${key} must be an object, it is ${JSON.stringify(value)}`);
}

const flag = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
  .nullish()
  .transform((value) => value ?? undefined);
const text = z
  .string()
  .nullish()
  .transform((value) => (value === '' ? undefined : (value ?? undefined)));

const blueprintConfig = z.looseObject({
  external_resource: flag,
  id: text,
  main_file_name: text,
  blueprint_archive: text,
  labels: z.unknown().optional(),
});
const deploymentConfig = z.looseObject({
  external_resource: flag,
  id: text,
  inputs: z.record(z.string(), z.unknown()).nullish(),
  logs: flag,
  auto_inc_suffix: flag,
  labels: z.unknown().optional(),
});
const componentConfig = z.looseObject({
  blueprint: blueprintConfig.nullish(),
  deployment: deploymentConfig.nullish(),
  executions_start_args: z.record(z.string(), z.unknown()).nullish(),
});

export type BlueprintConfig = z.output<typeof blueprintConfig>;
export type DeploymentConfig = z.output<typeof deploymentConfig>;
export interface ComponentConfig {
  blueprint: BlueprintConfig;
  deployment: DeploymentConfig;
  startArgs: JsonObject;
}

/** Reads `resource_config` of a component or shared resource. @throws FatalError with path and expected value. */
export function componentConfigOf(scope: Pick<Scope, 'inputs' | 'instance' | 'properties'>): ComponentConfig {
  const read = parsed(componentConfig, objectSetting(scope, 'resource_config'), 'resource_config');
  return {
    blueprint: read.blueprint ?? parsed(blueprintConfig, {}, ''),
    deployment: read.deployment ?? parsed(deploymentConfig, {}, ''),
    startArgs: (read.executions_start_args ?? {}) as JsonObject,
  };
}

/** Reads `resource_config` of a blueprint node. @throws FatalError with path and expected value. */
export function blueprintConfigOf(scope: Pick<Scope, 'inputs' | 'instance' | 'properties'>): BlueprintConfig {
  return parsed(blueprintConfig, objectSetting(scope, 'resource_config'), 'resource_config');
}

/** @throws FatalError with the path of the first value that does not match. */
export function parsed<S extends z.ZodType>(schema: S, value: unknown, at: string): z.output<S> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const issue = read.error.issues[0]!;
  throw new FatalError(`${[at, ...issue.path].filter((part) => part !== '').join('.')}: ${issue.message}`);
}

/** Reads a number of seconds from an input; -1: no limit. @throws FatalError */
export function secondsInput(inputs: Scope['inputs'], key: string, fallback: number): number {
  const value = inputs[key] ?? fallback;
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof seconds === 'number' && Number.isFinite(seconds) && (seconds >= 0 || seconds === -1))
    return seconds;
  throw new FatalError(
    `${key} must be a number of seconds, or -1 for no limit, it is ${JSON.stringify(value)}`,
  );
}

/** Returns the id of the component's deployment: as created, else as configured, else the id of the node instance. */
export function deploymentIdOf(
  instance: Scope['instance'],
  config: Pick<ComponentConfig, 'deployment'>,
): string {
  const known = instance.runtimeProperties.deployment;
  const stored = isJsonObject(known) && typeof known.id === 'string' ? known.id : '';
  return stored || config.deployment.id || instance.id;
}

export function blueprintIdOf(instance: Scope['instance'], blueprint: BlueprintConfig): string {
  return blueprint.id ?? instance.id;
}
