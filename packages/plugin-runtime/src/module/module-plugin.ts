import { join } from 'node:path';
import type { JsonObject } from '@baton/kernel';

/** A TypeScript plugin that is unpacked on this machine. */
export interface ModulePlugin {
  kind: 'module';
  /** Folder with index.js; the same folder always has the same content. */
  folder: string;
  /** Names of secrets that plugin.json declares; null: it says nothing about secrets, so the definition in the code counts. */
  secrets: readonly string[] | null;
  /** Port of the debugger of the process of its operations; null: it has none. Only for builds under development. */
  inspectPort?: number | null;
  /** Properties of its entry in the blueprint: ctx.plugin.properties. */
  properties: JsonObject;
}

/** Limits of the processes of TypeScript plugins. */
export interface ModuleLimits {
  /** Heap of one process in MiB; a process that needs more ends. */
  heapMb: number;
  /** Bytes of memory from which on a process gets no more operations. */
  recycleBytes: number;
  /** Operations after which a process gets no more. */
  recycleOperations: number;
  /** A process without operations ends after this time. */
  idleMs: number;
  /** Processes that are kept although they have no operations. */
  mostIdle: number;
  /** How long the code may take to load. */
  loadMs: number;
  /** How long an operation may go on after it was told to stop. Then its process is killed. */
  graceMs: number;
}

export const defaultModuleLimits: ModuleLimits = {
  heapMb: 512,
  recycleBytes: 400 * 1024 * 1024,
  recycleOperations: 10_000,
  idleMs: 300_000,
  mostIdle: 32,
  loadMs: 30_000,
  graceMs: 5_000,
};

/** The file that a process of a plugin runs: made by the build, one of the assets. */
export const moduleHostFile = (assetsDir: string): string => join(assetsDir, 'module', 'host.js');
